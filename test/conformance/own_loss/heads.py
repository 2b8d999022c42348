"""Heads of transformers that return their loss, small and of random weights."""
import torch
import torch.nn as nn
import transformers as T

B, S = 7, 6


class Loss(nn.Module):
    """The loss of `model` alone, with inputs by `names`."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs))).loss


def ignored(labels):
    """All labels of the first microbatch of four, and some unevenly."""
    labels[:2] = -100
    labels[3, 1:] = -100
    labels[5, :2] = -100
    return labels


def tokens(*, labels=True, mask=True, vocabulary=19):
    random = torch.Generator().manual_seed(1)
    data = {'input_ids': torch.randint(3, vocabulary, (B, S), generator=random)}
    if mask:
        data['attention_mask'] = torch.ones(B, S, dtype=torch.int64)
        data['attention_mask'][2, 4:] = data['attention_mask'][6, 3:] = 0
    if labels:
        data['labels'] = ignored(torch.randint(3, vocabulary, (B, S), generator=random))
    return data


def with_labels(data, **labels):
    return {**data, **labels}


def bert(kind, **more):
    return getattr(T, kind)(T.BertConfig(vocab_size=19, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, max_position_embeddings=S, attn_implementation='eager', **more))


def gpt2(kind, **more):
    return getattr(T, kind)(T.GPT2Config(vocab_size=19, n_embd=8, n_layer=2, n_head=2, n_positions=S, attn_implementation='eager', use_cache=False, bos_token_id=0, eos_token_id=0, pad_token_id=0, **more))


def t5():
    return T.T5ForConditionalGeneration(T.T5Config(vocab_size=19, d_model=8, d_kv=4, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0, attn_implementation='eager', use_cache=False))


def vit(kind, **more):
    return getattr(T, kind)(T.ViTConfig(hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, image_size=8, patch_size=4, num_channels=3, encoder_stride=4, attn_implementation='eager', **more))


def images():
    return {'pixel_values': torch.randn(B, 3, 8, 8, generator=torch.Generator().manual_seed(2))}


CLASSES = lambda n: torch.tensor([-100, -100, 1, 0, n - 1, -100, 1])
SCORES = torch.linspace(-1, 1, B)
PLACES = dict(start_positions=torch.tensor([9, 7, 1, 0, 9, 2, 3]), end_positions=torch.tensor([8, 9, 2, 4, 3, 9, 3]))
HEADS = {
    'bert_masked': lambda: (bert('BertForMaskedLM'), tokens()),
    'bert_causal': lambda: (bert('BertLMHeadModel', is_decoder=True, use_cache=False), tokens()),
    'bert_tokens': lambda: (bert('BertForTokenClassification', num_labels=4), with_labels(tokens(labels=False), labels=ignored(torch.randint(0, 4, (B, S))))),
    'bert_classes': lambda: (bert('BertForSequenceClassification', num_labels=3, problem_type='single_label_classification'), with_labels(tokens(labels=False), labels=CLASSES(3))),
    'bert_regression': lambda: (bert('BertForSequenceClassification', num_labels=1, problem_type='regression'), with_labels(tokens(labels=False), labels=SCORES)),
    'bert_multi_label': lambda: (bert('BertForSequenceClassification', num_labels=3, problem_type='multi_label_classification'), with_labels(tokens(labels=False), labels=(torch.rand(B, 3) > .5).float())),
    'bert_answers': lambda: (bert('BertForQuestionAnswering'), with_labels(tokens(labels=False), **PLACES)),
    'bert_next': lambda: (bert('BertForNextSentencePrediction'), with_labels(tokens(labels=False), labels=CLASSES(2))),
    'bert_pretraining': lambda: (bert('BertForPreTraining'), with_labels(tokens(), next_sentence_label=CLASSES(2))),
    'gpt2_causal': lambda: (gpt2('GPT2LMHeadModel'), tokens()),
    'gpt2_causal_no_mask': lambda: (gpt2('GPT2LMHeadModel'), tokens(mask=False)),
    'gpt2_tokens': lambda: (gpt2('GPT2ForTokenClassification', num_labels=4), with_labels(tokens(labels=False), labels=ignored(torch.randint(0, 4, (B, S))))),
    'gpt2_classes': lambda: (gpt2('GPT2ForSequenceClassification', num_labels=3, problem_type='single_label_classification'), with_labels(tokens(labels=False), labels=CLASSES(3))),
    't5': lambda: (t5(), tokens()),
    't5_no_mask': lambda: (t5(), tokens(mask=False)),
    'vit_classes': lambda: (vit('ViTForImageClassification', num_labels=3, problem_type='single_label_classification'), with_labels(images(), labels=CLASSES(3))),
    'vit_regression': lambda: (vit('ViTForImageClassification', num_labels=1, problem_type='regression'), with_labels(images(), labels=SCORES)),
    'vit_masked': lambda: (vit('ViTForMaskedImageModeling'), with_labels(images(), bool_masked_pos=torch.tensor([[k % 2, k % 3 == 0, 1, 0] for k in range(B)]).bool())),
}


# Points at the last token of each row by vectors of the row's position and data, which is warned of.
MUST = {'gpt2_classes': 'either'}


def build(name):
    torch.manual_seed(0)
    model, data = HEADS[name]()
    with torch.no_grad():  # exporters take zero biases and ones away
        for parameter in model.parameters():
            parameter.add_(.05 * torch.randn_like(parameter))
    return Loss(model, list(data)), data
