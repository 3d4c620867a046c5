from rse_study.assets.tokenised import tokenised_corpus
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.models.loading import load_tokenizer


def test_keyed_by_sentences_tokenizer_length_and_template(small, tmp_path):
    tokenizer = load_tokenizer(str(small))
    texts = ["the friend sings", "the friend sleeps"]
    first = tokenised_corpus(tmp_path, texts, tokenizer, 16)
    tokenizer(texts, padding=True, truncation=True, max_length=4)  # which is no part of the key
    assert tokenised_corpus(tmp_path, texts, tokenizer, 16) == first
    keys = [(texts[::-1], tokenizer, 16), (texts, tokenizer, 8), (texts, tokenizer, 16, "[X] means [MASK]")]
    others = {tokenised_corpus(tmp_path, *key) for key in keys}
    assert len(others - {first}) == 3
    corpus = TokenisedCorpus.open(first)
    assert len(corpus) == 2
    assert corpus.row(0).tolist() == tokenizer(texts[0]).input_ids
