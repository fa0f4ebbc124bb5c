# Runs the quickstart society and leaves its run folder in /runs:
#   docker build -t virsci-society .
#   docker run --rm -v "$PWD/runs:/runs" virsci-society
# Any other command:
#   docker run --rm -v "$PWD/runs:/runs" virsci-society society list
# With the extra that asks language models:
#   docker build --build-arg EXTRAS=[llm] -t virsci-society .
FROM python:3.12-slim
ARG EXTRAS=

WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE CITATION.cff ./
COPY agents agents
COPY society society
COPY protocols protocols
COPY metrics metrics
COPY scenarios scenarios
COPY virsci_society virsci_society
RUN pip install --no-cache-dir --disable-pip-version-check -c constraints.txt ".${EXTRAS}"

WORKDIR /
VOLUME /runs
CMD ["society", "run", "quickstart", "--out", "/runs/demo"]
