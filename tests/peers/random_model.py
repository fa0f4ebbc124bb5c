"""A small language model of random weights, as a file that llama.cpp reads (GGUF).

One layer of the Llama architecture, and a byte-pair vocabulary learned from the pages of Python's
``help``, English that is there wherever Python is. It has learned nothing else: what it writes is
noise, which only a grammar can bring into form. Source of the format: the package ``gguf`` of
llama.cpp.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VOCABULARY = 4000
"""Tokens; one holds about three characters of a prompt."""
WIDTH, HEADS, INNER = 32, 2, 64
"""Sizes of the embedding, its heads (number) and the feed-forward layer."""
CONTEXT = 131_072
"""Tokens that the model says it can read; the server may be given fewer."""
SEED = 1
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Chat template: ChatML, the commonest."""
_SPECIAL = ["<|im_start|>", "<|im_end|>"]
_QUOTE = '"'
_SPACES = {"Ġ", "Ċ", "č", "ĉ"}
"""Space, line feed, carriage return and tab, as byte-level encoding writes them."""
ENDING, NEVER = 4.0, -100.0
"""Biases of the quotation mark, and of white space between the parts of the JSON."""


@dataclass(frozen=True)
class RandomModel:
    """A model on disk."""

    path: Path
    logit_bias: Mapping[str, float]


def write_random_model(path):
    """Write the model; the same weights every time."""
    tokens, merges = _vocabulary()
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random weights")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    kinds = (gguf.TokenType.CONTROL, gguf.TokenType.NORMAL)
    writer.add_token_types([kinds[token not in _SPECIAL] for token in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokens.index(_SPECIAL[0]))
    writer.add_eos_token_id(tokens.index(_SPECIAL[1]))
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT)
    for name, weights in _weights(len(tokens)).items():
        writer.add_tensor(f"{name}.weight", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return RandomModel(path, _biases(tokens))


def _biases(tokens):
    """White space is left for what stands before a word, and quotation marks are likely."""
    spaces = [
        str(number)
        for number, token in enumerate(tokens)
        if token[0] in _SPACES and not (token[1:2].isascii() and token[1:2].isalpha())
    ]
    return {str(tokens.index(_QUOTE)): ENDING} | dict.fromkeys(spaces, NEVER)


def _vocabulary():
    """Tokens in the order of their numbers, and merges, of byte-level byte-pair encoding."""
    from pydoc_data.topics import topics

    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((topics[name] for name in sorted(topics)), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    # Older releases of the library write a merge as one text.
    merges = [one if isinstance(one, str) else " ".join(one) for one in model["merges"]]
    return tokens, merges


def _weights(tokens):
    rng = np.random.default_rng(SEED)

    def random(rows, columns):
        return (rng.standard_normal((rows, columns)) / columns**0.5).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    weights = {
        "token_embd": random(tokens, WIDTH),
        "output": random(tokens, WIDTH),
        "output_norm": ones,
        "blk.0.attn_norm": ones,
        "blk.0.ffn_norm": ones,
        "blk.0.ffn_gate": random(INNER, WIDTH),
        "blk.0.ffn_up": random(INNER, WIDTH),
        "blk.0.ffn_down": random(WIDTH, INNER),
    }
    for part in ("q", "k", "v", "output"):
        weights[f"blk.0.attn_{part}"] = random(WIDTH, WIDTH)
    return weights
