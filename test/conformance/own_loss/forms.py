"""Losses as people write them inside forward, over a small net: what `--loss output:loss` has to take over the whole batch, or warn of."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

B, S, C = 7, 3, 4  # seven rows in four microbatches: 2, 2, 2 and 1


def batch(seed):
    """Labels are ignored unevenly, all of them in rows 0 and 1, the first microbatch of four; so is the mask."""
    random = torch.Generator().manual_seed(seed)
    data = {'x': torch.randn(B, S, 5, generator=random), 'y': torch.randn(B, S, C, generator=random), 'mask': (torch.rand(B, S, generator=random) > .4).float(),
            'labels': torch.randint(0, C, (B, S), generator=random), 'classes': torch.randint(0, C, (B,), generator=random), 'targets': torch.randn(B, generator=random)}
    data['labels'][:2] = -100
    data['labels'][4, 1:] = -100
    data['mask'][:2] = 0
    data['mask'][3] = torch.tensor([1., 0, .5])
    data['mask'][6, 0] = 1
    return data


class Net(nn.Module):
    """`loss(model, z, data)` of scores z [B, S, C]; reads the inputs in `names`."""

    def __init__(self, loss, names):
        super().__init__()
        self.a = nn.Linear(5, 8)
        self.head = nn.Linear(8, C)
        reads = loss.__code__.co_names  # what is not read would be missing in the file
        if 'scale' in reads:
            self.scale = nn.Parameter(torch.tensor(.3))
        if 'class_weight' in reads:
            self.register_buffer('class_weight', torch.tensor([1., 2., .5, 3.]))
        if 'frozen_weight' in reads:
            self.frozen_weight = nn.Parameter(torch.tensor([2., 1., 3., .5]), requires_grad=False)
        self.loss, self.names = loss, names

    def forward(self, x, *rest):
        return self.loss(self, self.head(torch.tanh(self.a(x))), dict(zip(self.names, (x, *rest))))


FORMS = {}


def expressions(must, names, **losses):
    """`must`: 'right' in every file, 'warned' where a microbatch has not what the loss needs, or 'either', as where exporters write another loss."""
    for name, loss in losses.items():
        FORMS[name] = dict(loss=loss, names=('x', *names.split()), must=must, frozen=())


flat = lambda z: z.reshape(-1, C)
error = lambda z, d: ((z - d['y']) ** 2).mean(-1)
entropy = lambda z, d, **how: F.cross_entropy(flat(z), d['labels'].reshape(-1), **how)
seen = lambda d: d['labels'] != -100

expressions('right', 'labels',
            ce=lambda m, z, d: entropy(z, d),
            ce_transposed=lambda m, z, d: F.cross_entropy(z.transpose(1, 2), d['labels']),
            ce_shifted=lambda m, z, d: F.cross_entropy(flat(z[:, :-1]), d['labels'][:, 1:].reshape(-1)),
            ce_smooth=lambda m, z, d: entropy(z, d, label_smoothing=.1),
            ce_sum=lambda m, z, d: entropy(z, d, reduction='sum'),
            ce_sum_over_seen=lambda m, z, d: entropy(z, d, reduction='sum') / seen(d).sum(),
            ce_sum_over_size=lambda m, z, d: entropy(z, d, reduction='sum') / d['labels'].numel(),
            ce_sum_over_rows=lambda m, z, d: entropy(z, d, reduction='sum') / z.shape[0],
            ce_none_mean=lambda m, z, d: entropy(z, d, reduction='none').mean(),
            ce_ignore_7=lambda m, z, d: F.cross_entropy(flat(z), torch.where(seen(d), d['labels'], 7).reshape(-1), ignore_index=7),
            ce_row_means=lambda m, z, d: (F.cross_entropy(z.transpose(1, 2), d['labels'], reduction='none').sum(1) / seen(d).sum(1).clamp(min=1)).mean(),
            nll=lambda m, z, d: F.nll_loss(F.log_softmax(flat(z), -1), d['labels'].reshape(-1)),
            nll_weight=lambda m, z, d: F.nll_loss(F.log_softmax(flat(z), -1), d['labels'].reshape(-1), weight=torch.tensor([1., 2., .5, 3.], dtype=z.dtype)),
            ce_scaled=lambda m, z, d: entropy(z, d) / math.log(2),
            ce_learned_scale=lambda m, z, d: torch.exp(-m.scale) * entropy(z, d) + m.scale,
            ce_guarded=lambda m, z, d: entropy(z, d, reduction='sum') / seen(d).sum().clamp(min=1),
            ce_twice=lambda m, z, d: entropy(z, d) + .5 * F.cross_entropy(flat(z * m.scale), d['labels'].reshape(-1)),
            ce_stacked=lambda m, z, d: torch.stack([entropy(z, d), entropy(z * 2, d)]).mean(),
            ce_and_decay=lambda m, z, d: entropy(z, d) + .01 * (m.a.weight ** 2).sum(),
            ce_and_zloss=lambda m, z, d: entropy(z, d) + 1e-2 * (torch.logsumexp(z, -1) ** 2).mean(),
            ce_and_entropy=lambda m, z, d: entropy(z, d) + .05 * (F.softmax(z, -1) * F.log_softmax(z, -1)).sum(-1).mean(),
            picked=lambda m, z, d: -(F.log_softmax(z, -1).gather(-1, d['labels'].clamp(min=0).unsqueeze(-1)).squeeze(-1) * seen(d)).sum() / seen(d).sum(),
            one_hot=lambda m, z, d: -(F.log_softmax(z, -1) * F.one_hot(d['labels'].clamp(min=0), C) * seen(d).unsqueeze(-1)).sum() / seen(d).sum(),
            where_zero=lambda m, z, d: torch.where(seen(d), -F.log_softmax(z, -1)[..., 0], z.new_zeros(())).sum() / seen(d).float().sum())
expressions('either', 'labels',
            ce_weight=lambda m, z, d: entropy(z, d, weight=m.class_weight),
            ce_weight_transposed=lambda m, z, d: F.cross_entropy(z.transpose(1, 2), d['labels'], weight=m.class_weight),
            ce_weight_smooth=lambda m, z, d: entropy(z, d, weight=m.class_weight, label_smoothing=.1),
            ce_weight_counted=lambda m, z, d: entropy(z, d, weight=torch.bincount(d['labels'].clamp(min=0).flatten(), minlength=C).to(z.dtype)),
            ce_selected=lambda m, z, d: F.cross_entropy(z[seen(d)], d['labels'][seen(d)]))
expressions('either', 'labels', focal=lambda m, z, d: ((1 - torch.exp(-entropy(z, d, reduction='none'))) ** 2 * entropy(z, d, reduction='none')).sum() / seen(d).sum())
expressions('either', 'y', ce_soft=lambda m, z, d: F.cross_entropy(flat(z), F.softmax(flat(d['y']), -1)))
for _name in ('ce_weight', 'ce_weight_transposed', 'ce_weight_smooth'):
    FORMS[_name + '_frozen'] = dict(FORMS[_name], must='right', frozen=('class_weight',))
FORMS['ce_weight_parameter'] = dict(FORMS['ce'], loss=lambda m, z, d: entropy(z, d, weight=m.frozen_weight), frozen=('frozen_weight',))
expressions('right', 'classes',
            ce_rows=lambda m, z, d: F.cross_entropy(z.mean(1), d['classes']),
            ce_rows_weighted=lambda m, z, d: (F.cross_entropy(z[:, 0], d['classes'], reduction='none') * torch.tensor([1., 2., .5, 3.], dtype=z.dtype)[d['classes']]).mean(),
            multi_margin=lambda m, z, d: F.multi_margin_loss(z[:, 0], d['classes']))
expressions('right', 'y',
            mse=lambda m, z, d: F.mse_loss(z, d['y']),
            mse_sum=lambda m, z, d: F.mse_loss(z, d['y'], reduction='sum'),
            mse_over_rows=lambda m, z, d: ((z - d['y']) ** 2).sum() / z.shape[0],
            mse_over_size=lambda m, z, d: F.mse_loss(z, d['y'], reduction='sum') / z.numel(),
            mse_by_steps=lambda m, z, d: ((z - d['y']) ** 2).sum(-1).mean(),
            mse_mean_0=lambda m, z, d: ((z - d['y']) ** 2).mean(0).sum(),
            mse_means=lambda m, z, d: ((z - d['y']) ** 2).mean((1, 2)).mean(),
            l1=lambda m, z, d: F.l1_loss(z, d['y']),
            smooth_l1=lambda m, z, d: F.smooth_l1_loss(z, d['y'], beta=.5),
            huber=lambda m, z, d: F.huber_loss(z, d['y'], delta=.7),
            norm_rows=lambda m, z, d: torch.linalg.vector_norm(z - d['y'], dim=-1).mean(),
            rmse_rows=lambda m, z, d: torch.sqrt(((z - d['y']) ** 2).mean((1, 2))).mean(),
            bce_logits=lambda m, z, d: F.binary_cross_entropy_with_logits(z, (d['y'] > 0).to(z.dtype)),
            bce_pos_weight=lambda m, z, d: F.binary_cross_entropy_with_logits(z, (d['y'] > 0).to(z.dtype), pos_weight=torch.tensor([1., 2., .5, 3.], dtype=z.dtype)),
            bce_weight=lambda m, z, d: F.binary_cross_entropy_with_logits(z, (d['y'] > 0).to(z.dtype), weight=d['y'].abs()),
            bce=lambda m, z, d: F.binary_cross_entropy(torch.sigmoid(z), (d['y'] > 0).to(z.dtype)),
            kl_batchmean=lambda m, z, d: F.kl_div(F.log_softmax(z, -1), F.softmax(d['y'], -1), reduction='batchmean'),
            kl_mean=lambda m, z, d: F.kl_div(F.log_softmax(z, -1), F.softmax(d['y'], -1), reduction='mean'),
            kl_log_target=lambda m, z, d: F.kl_div(F.log_softmax(z, -1), F.log_softmax(d['y'], -1), reduction='batchmean', log_target=True),
            poisson=lambda m, z, d: F.poisson_nll_loss(z, d['y'].abs()),
            gaussian=lambda m, z, d: F.gaussian_nll_loss(z, d['y'], torch.ones_like(z) * .5),
            soft_margin=lambda m, z, d: F.soft_margin_loss(z, torch.where(d['y'] > 0, 1., -1.).to(z.dtype)),
            hinge_embedding=lambda m, z, d: F.hinge_embedding_loss(z, torch.where(d['y'] > 0, 1., -1.).to(z.dtype)),
            multilabel_soft=lambda m, z, d: F.multilabel_soft_margin_loss(z[:, 0], (d['y'][:, 0] > 0).to(z.dtype)),
            cosine=lambda m, z, d: 1 - F.cosine_similarity(z, d['y'], -1).mean(),
            cosine_embedding=lambda m, z, d: F.cosine_embedding_loss(z[:, 0], d['y'][:, 0], torch.ones(z.shape[0], dtype=z.dtype)),
            margin_ranking=lambda m, z, d: F.margin_ranking_loss(z[..., 0], z[..., 1], torch.where(d['y'][..., 0] > 0, 1., -1.), margin=.1),
            triplet=lambda m, z, d: F.triplet_margin_loss(z[:, 0], z[:, 1], d['y'][:, 0]),
            dice_rows=lambda m, z, d: (1 - 2 * (torch.sigmoid(z) * (d['y'] > 0)).sum((1, 2)) / (torch.sigmoid(z).sum((1, 2)) + (d['y'] > 0).sum((1, 2)) + 1)).mean(),
            log_cosh=lambda m, z, d: torch.log(torch.cosh(z - d['y'])).mean(),
            pinball=lambda m, z, d: torch.maximum(.9 * (z - d['y']), -.1 * (z - d['y'])).mean(),
            scaled_target=lambda m, z, d: F.mse_loss(z, d['y'] * 2 - 1) * 3 + m.scale ** 2,
            target_share=lambda m, z, d: ((z - d['y']) ** 2).sum() / (d['y'] ** 2).sum(),
            pairs_in_row=lambda m, z, d: ((z.unsqueeze(1) - z.unsqueeze(2)).pow(2).sum(-1) - (d['y'].unsqueeze(1) - d['y'].unsqueeze(2)).pow(2).sum(-1)).abs().mean())
expressions('right', 'y mask',
            masked=lambda m, z, d: (error(z, d) * d['mask']).sum() / d['mask'].sum(),
            masked_clamped=lambda m, z, d: (error(z, d) * d['mask']).sum() / torch.clamp(d['mask'].sum(), min=1),
            masked_eps=lambda m, z, d: (error(z, d) * d['mask']).sum() / (d['mask'].sum() + 1e-3),
            masked_means=lambda m, z, d: (error(z, d) * d['mask']).mean() / d['mask'].mean(),
            masked_shares=lambda m, z, d: (error(z, d) * (d['mask'] / d['mask'].sum())).sum(),
            masked_wide=lambda m, z, d: (((z - d['y']) ** 2) * d['mask'].unsqueeze(-1)).sum() / (d['mask'].sum() * C),
            masked_expanded=lambda m, z, d: (((z - d['y']) ** 2) * d['mask'].unsqueeze(-1)).sum() / d['mask'].unsqueeze(-1).expand_as(z).sum(),
            masked_rows=lambda m, z, d: ((error(z, d) * d['mask']).sum(1) / d['mask'].sum(1).clamp(min=1)).mean(),
            masked_seen_rows=lambda m, z, d: ((error(z, d) * d['mask']).sum(1) / d['mask'].sum(1).clamp(min=1)).sum() / (d['mask'].sum(1) > 0).sum(),
            masked_filled=lambda m, z, d: error(z, d).masked_fill(d['mask'] == 0, 0.).sum() / (d['mask'] != 0).sum(),
            masked_mean_only=lambda m, z, d: (error(z, d) * d['mask']).mean(),
            masked_columns=lambda m, z, d: ((error(z, d) * d['mask']).sum(0) / d['mask'].sum(0).clamp(min=1)).mean(),
            masked_two=lambda m, z, d: .7 * (error(z, d) * d['mask']).sum() / d['mask'].sum() + .3 * (z.abs().mean(-1) * (1 - d['mask'])).sum() / (1 - d['mask']).sum(),
            balanced=lambda m, z, d: (error(z, d) * torch.where(d['mask'] > 0, (1 - d['mask']).sum() / d['mask'].sum(), z.new_ones(()))).mean())
expressions('right', 'targets',
            regression=lambda m, z, d: F.mse_loss(z.mean((1, 2)), d['targets']),
            regression_weighted=lambda m, z, d: (z.mean((1, 2)) - d['targets']).pow(2).mul(d['targets'].abs()).sum() / d['targets'].abs().sum())
expressions('right', 'labels y mask',
            three_terms=lambda m, z, d: entropy(z, d) + .3 * F.mse_loss(z, d['y']) + .1 * (error(z, d) * d['mask']).sum() / d['mask'].sum(),
            distilled=lambda m, z, d: .5 * entropy(z, d) + .5 * 4 * F.kl_div(F.log_softmax(z / 2, -1), F.softmax(d['y'] / 2, -1), reduction='batchmean'),
            uncertain=lambda m, z, d: torch.exp(-m.scale) * entropy(z, d) + torch.exp(m.scale) * F.mse_loss(z, d['y']) + m.scale)
# What no microbatch has of the others.
expressions('warned', 'y',
            rmse=lambda m, z, d: torch.sqrt(F.mse_loss(z, d['y'])),
            largest=lambda m, z, d: ((z - d['y']) ** 2).amax(),
            normalised=lambda m, z, d: ((z - d['y']) ** 2).sum() / (z ** 2).sum(),
            dice_batch=lambda m, z, d: 1 - 2 * (torch.sigmoid(z) * (d['y'] > 0)).sum() / (torch.sigmoid(z).sum() + (d['y'] > 0).sum() + 1),
            spread=lambda m, z, d: F.mse_loss(z, d['y']) + z.var(0).mean(),
            centred=lambda m, z, d: ((z - z.mean(0)) ** 2).mean(),
            contrastive=lambda m, z, d: F.cross_entropy(z[:, 0] @ d['y'][:, 0].T, torch.arange(z.shape[0])),
            pairs=lambda m, z, d: F.relu(1 - (z[:, 0].unsqueeze(0) - z[:, 1].unsqueeze(1)).pow(2).sum(-1)).mean(),
            balance=lambda m, z, d: F.mse_loss(z, d['y']) + C * (F.softmax(z, -1).mean((0, 1)) * F.softmax(z, -1).mean((0, 1))).sum(),
            standardised=lambda m, z, d: (((z - z.mean()) / z.std() - d['y']) ** 2).mean(),
            whitened_target=lambda m, z, d: ((z - (d['y'] - d['y'].mean()) / d['y'].std()) ** 2).mean(),
            first_rows=lambda m, z, d: ((z[:2] - d['y'][:2]) ** 2).sum(),
            neighbours=lambda m, z, d: ((z[1:] - z[:-1]) ** 2).mean())
expressions('warned', 'labels',
            perplexity=lambda m, z, d: torch.exp(entropy(z, d)),
            log_of_mean=lambda m, z, d: torch.log1p(entropy(z, d)),
            squared_mean=lambda m, z, d: entropy(z, d) ** 2,
            clamped_mean=lambda m, z, d: entropy(z, d).clamp(max=1.5),
            by_batch_norm=lambda m, z, d: entropy((z - z.mean((0, 1))) / (z.std((0, 1)) + 1e-5), d))
