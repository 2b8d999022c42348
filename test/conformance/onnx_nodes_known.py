"""Node tests that pipec refuses although it claims their operator, each with its reason."""

# Element types that pipec does not have, or that safetensors for NumPy does not hold.
SKIPPED_TYPES = {'bfloat16', 'float8_e4m3fn', 'float8_e4m3fnuz', 'float8_e5m2', 'float8_e5m2fnuz', 'float8_e8m0fnu', 'float4_e2m1fn',
                 'int4', 'uint4', 'int2', 'uint2', 'complex64', 'complex128'}

_BY_REASON = {
    'key-value caches of Attention (past and present) are refused': """
        test_attention_3d_diff_heads_with_past_and_present test_attention_3d_gqa_with_past_and_present test_attention_3d_with_past_and_present
        test_attention_3d_with_past_and_present_qk_matmul test_attention_3d_with_past_and_present_qk_matmul_bias
        test_attention_3d_with_past_and_present_qk_matmul_softcap test_attention_3d_with_past_and_present_qk_matmul_softmax
        test_attention_4d_causal_nonpad_attn_mask_composition test_attention_4d_causal_nonpad_batch_prefill
        test_attention_4d_causal_nonpad_continued_prefill test_attention_4d_causal_nonpad_negative_offset_structural_empty
        test_attention_4d_causal_with_past_and_present test_attention_4d_diff_heads_mask4d_padded_kv test_attention_4d_diff_heads_with_past_and_present
        test_attention_4d_diff_heads_with_past_and_present_mask3d test_attention_4d_diff_heads_with_past_and_present_mask4d
        test_attention_4d_gqa_causal_nonpad_decode test_attention_4d_gqa_causal_nonpad_decode_fp16 test_attention_4d_gqa_with_past_and_present
        test_attention_4d_gqa_with_past_and_present_fp16 test_attention_4d_with_past_and_present test_attention_4d_with_past_and_present_qk_matmul
        test_attention_4d_with_past_and_present_qk_matmul_bias test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask
        test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask
        test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal test_attention_local_window_ext_cache_float16_mask
        test_attention_local_window_ext_cache_rank2_mask test_attention_local_window_ext_cache_rank3_head_mask
        test_attention_local_window_ext_cache_rank4_batch_mask test_attention_local_window_with_past
    """,
    'softcap of Attention is refused': """
        test_attention_3d_diff_heads_sizes_softcap test_attention_3d_gqa_softcap test_attention_3d_softcap test_attention_4d_diff_heads_sizes_softcap
        test_attention_4d_gqa_softcap test_attention_4d_softcap test_attention_4d_softcap_neginf_mask test_attention_4d_softcap_neginf_mask_poison
    """,
    'extra outputs of Attention are refused': """
        test_attention_23_fullymasked_qk_matmul_output_mode3_zero test_attention_24_fullymasked_qk_matmul_output_mode3_zero
        test_attention_24_qk_matmul_output_mode3_softmax_precision test_attention_4d_with_qk_matmul test_attention_4d_with_qk_matmul_bias
        test_attention_4d_with_qk_matmul_softcap test_attention_4d_with_qk_matmul_softmax test_attention_local_window_gqa_rank4_mask
    """,
    'BatchNormalization in training mode is refused until there is training': """
        test_batchnorm_epsilon_training_mode test_batchnorm_example_training_mode test_training_dropout_default_mask test_training_dropout_mask
    """,
    'Dropout in training mode: inference makes it the identity, and refuses its mask': """
        test_training_dropout test_training_dropout_default
    """,
    'the Indices output of MaxPool is refused': """
        test_maxpool_with_argmax_2d_precomputed_pads test_maxpool_with_argmax_2d_precomputed_strides
    """,
    'the expectation divides by the unrounded output size; PyTorch and ONNX Runtime, and we, by the real one': """
        test_resize_downsample_scales_cubic_align_corners test_resize_downsample_scales_linear_align_corners
    """,
    'tf_crop_and_resize of Resize is refused': """
        test_resize_tf_crop_and_resize test_resize_tf_crop_and_resize_axes_2_3 test_resize_tf_crop_and_resize_axes_3_2
        test_resize_tf_crop_and_resize_extrapolation_value
    """,
    'antialiasing of Resize is refused': """
        test_resize_downsample_scales_cubic_antialias test_resize_downsample_scales_linear_antialias test_resize_downsample_sizes_cubic_antialias
        test_resize_downsample_sizes_linear_antialias
    """,
}

KNOWN = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
