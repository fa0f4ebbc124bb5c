"""A sentence-transformers model made from scratch: a BERT of two layers with random weights."""

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = ("graph", "tree", "layout", "force", "spring", "edge", "node", "volume", "ray", "field")
HIDDEN, LONGEST = 32, 48


def build(folder, *, seed=0):
    """Make one and write it, as safetensors; returns the folder of the model."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel

    raw, folder = folder / "raw", folder / "model"
    _tokenizer().save_pretrained(raw)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(SPECIAL) + len(WORDS) + 26,
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    BertModel(config).save_pretrained(raw)
    parts = [modules.Transformer(str(raw), max_seq_length=LONGEST), modules.Pooling(HIDDEN)]
    SentenceTransformer(modules=parts, device="cpu").save(str(folder))
    return folder


def _tokenizer():
    """Words of the tests, and letters for all others."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece
    from transformers import PreTrainedTokenizerFast

    pieces = (*SPECIAL, *WORDS, *(f"##{chr(97 + n)}" for n in range(26)))
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=LONGEST, model_input_names=_INPUTS, **named
    )


_INPUTS = ["input_ids", "attention_mask"]
