# Everything that is done with this repository. `make help` lists it.

PYTHON ?= python3
BINARY := bin/argoperator
# What `make e2e` hands to go test, for instance E2E='-run TestMemcached'.
E2E ?=

# The python3 of a version manager such as pyenv is a script that takes more than twice as long to start as Python itself,
# and the tests of one example start it up to 50 times. So the interpreter that it chooses comes first on the PATH.
INTERPRETER := $(shell $(PYTHON) -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null)
ifeq ($(findstring :$(INTERPRETER):,:$(PATH)::),)
export PATH := $(INTERPRETER):$(PATH)
endif

# Begins a recipe that needs a program: without it, the target is skipped. .ci/missing.py lists these targets.
with = @command -v $(1) >/dev/null || { echo "$(1) is not installed: skipped make $@"; exit 0; }; set -x;

.DEFAULT_GOAL := help
.PHONY: help build dev test-dev e2e-dev page-editor verify-page-editor test test-missing test-race race perf test-python test-js vet lint lint-scripts words format tidy verify-tidy coretypes generate verify-generate examples verify all-checks e2e e2e-smoke e2e-guards operators peers agreement linters bench bench-cluster chance differential expressions guarantees realcrds docs docs-serve kind kind-down dist clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/argoperator
	go build -trimpath -o $(BINARY) ./cmd/argoperator

dev: ## build bin/argoperator-dev, Kubernetes' API server and controllers in one process; compiles Kubernetes, which takes minutes
	cd cmd/argoperator-dev && go build -trimpath -ldflags "-X k8s.io/component-base/version.gitVersion=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes)" -o ../../bin/argoperator-dev .

test-dev: ## run the tests of cmd/argoperator-dev, a module of its own
	cd cmd/argoperator-dev && go vet . && go test -count 1 -timeout 20m .

bin/kubectl:
	cd cmd/argoperator-dev && go build -trimpath -o ../../bin/ k8s.io/kubernetes/cmd/kubectl

e2e-dev: build dev bin/kubectl verify-page-editor ## test argoperator dev with kubectl and with Chromium; some tests with E2E='-run TestKubectl'
	ARGOPERATOR_DEV=$(CURDIR)/bin/argoperator-dev go test -count 1 -timeout 20m -run TestServersAgree $(filter -short,$(E2E)) ./pkg/internal/run/live
	cd e2e/tools && go vet ./dev && go test -count 1 -timeout 40m $(E2E) ./dev

page-editor: ## bundle the editor of the page of argoperator dev, as pinned in pkg/internal/run/page/editor; needs npm
	cd pkg/internal/run/page/editor && ./build

verify-page-editor: ## fail if `make page-editor` would change the bundle
	$(call with,npm) pkg/internal/run/page/editor/build $(CURDIR)/bin/editor.js && cmp bin/editor.js pkg/internal/run/page/assets/editor.js

test: build ## run the unit tests of Go; bin/tests.json has their output. `make vet` has the checks that go test would do again
	@mkdir -p bin
	go tool gotestsum --format pkgname --format-hide-empty-pkg --hide-summary skipped --jsonfile bin/tests.json -- -vet off -timeout 20m ./...
	go test -vet off -tags e2e -run TestGuardsAreThere ./e2e

test-race: ## run the unit tests of what runs jq with the race detector
	$(call with,$$(go env CC)) go test -race -vet off -timeout 10m -run 'Goroutines|Gojq' ./pkg/internal/jq/jq

# Goroutines share compiled jq and definitions. `argoperator test` and `render` start them; of pkg/argoperator, these are the tests
# of several definitions at once, of pkg/cmd the scripts of `argoperator test`. The simulations of some operators run side by side.
race: ## run the unit tests of what several goroutines share with the race detector; compiles Argo again, which takes minutes
	go test -race -timeout 30m ./pkg/internal/jq/jq
	go test -race -timeout 30m -run 'TestOperators/each/(memcached|shop|visitors|webapp|postgres)' ./pkg/internal/run/testsuite
	go test -race -timeout 30m -run 'Several|Each|CallerOwns|Example' ./pkg/argoperator
	go test -race -timeout 30m -run 'TestScripts/test' ./pkg/cmd

perf: ## compare instructions and allocations with testdata/instructions.json and allocations.json; needs valgrind
	go test -tags perf -count 1 -timeout 30m -v -run 'TestInstructions|TestAllocations' ./pkg/argoperator

test-python: ## run the unit tests of the pod-side program and of .ci
	$(PYTHON) -m py_compile templates/runtime/*.py $(wildcard examples/*/logic/*.py)
	$(PYTHON) -m unittest discover --start-directory templates/runtime --pattern '*_test.py'
	$(PYTHON) -B -m unittest discover --start-directory .ci --pattern '*_test.py'

test-js: ## run the unit tests of JavaScript
	$(call with,node) node --test $$(git ls-files '*.test.js')

vet: ## run go vet on everything, the cluster suite and the tests of make perf included
	go vet -tags e2e,perf ./...

lint: lint-scripts ## check format and habits (gofumpt, staticcheck, revive), as pinned in go.mod
	@unformatted=$$(go tool gofumpt -l .); test -z "$$unformatted" || { echo "not formatted, run 'make format':"; echo "$$unformatted"; exit 1; }
	STATICCHECK_CACHE="$$(go env GOCACHE)/staticcheck" go tool staticcheck -tags e2e,perf ./...
	go tool revive -config .revive.toml -set_exit_status ./...

lint-scripts: ## check Python and JavaScript (ruff, Biome), as pinned in .ci/linters
	$(call with,npm) .ci/linters/run

words: ## check spelling and wording of pages, comments, help and findings, by the rules of .ci/words/styles; one file with FILES=README.md
	$(call with,$$(go env CC)) go build -o bin/ ./e2e/words && (cd e2e/tools && go build -o ../../bin/ github.com/vale-cli/vale/v3/cmd/vale) && bin/words $(FILES)

format: ## rewrite the Go files in the format that lint asks for
	go tool gofumpt -w .

tidy: ## rewrite go.mod and go.sum as the imports need them
	go mod tidy

verify-tidy: ## fail if `make tidy` would change anything
	go mod tidy -diff

coretypes: ## rewrite the schemas of Kubernetes' types, from the version of k8s.io/api in go.mod
	go run ./pkg/internal/testing/generate/coretypes pkg/internal/lang/coretypes/types.json.gz

generate: ## rewrite what is made from other files, the JSON Schema and the goldens; their diff is the review
	go generate ./...
	UPDATE=1 go test ./...
	go run ./cmd/argoperator test -f examples -R --run-logic --update

# A part of `make test`: the tests that compare generated files.
verify-generate: ## fail if `make generate` would change anything
	go test -timeout 20m ./pkg/apis/... ./pkg/argoperator ./pkg/internal/lang/definition ./pkg/internal/run/testsuite ./pkg/cmd

# A part of `make test`: each example is generated twice and linted, its tests and the other commands of its README run.
examples: ## run the tests that are about the examples
	go test -timeout 20m -run 'TestGolden|TestOperators|TestDocsRun/examples' ./pkg/argoperator ./pkg/internal/run/testsuite ./pkg/cmd

realcrds: ## make operators and samples of the CustomResourceDefinitions of well-known projects; downloads them
	ARGOPERATOR_REAL_CRDS=1 go test -count 1 -timeout 60m -v ./pkg/internal/testing/realcrds

# verify-generate and examples are not listed: `test` runs their tests.
verify: verify-tidy vet lint words build test-python test-js test test-race ## run the checks and tests that every change must pass, each once
	@$(PYTHON) .ci/missing.py bin/tests.json

test-missing: lint-scripts test-js words test-race ## run what `make verify` skips if a program is not installed
	$(PYTHON) .ci/missing.py --again bin/tests.json

all-checks: ## run all that continuous integration knows, which leaves out what a change cannot break; on Debian, as root
	.ci/run all

# Reports: JUnit for machines that run tests, and the results that docs/explanation/guarantees.md is made of (make guarantees).
SUITE = E2E_RESULTS=$(CURDIR)/bin/e2e-results.json go tool gotestsum --format standard-verbose --junitfile bin/e2e-junit.xml -- -tags e2e -count 1 -parallel 16

e2e: build ## run the cluster suite against $KUBECONFIG: all of it; one test with E2E='-run TestScenarios/engines/.*/burst'
	$(SUITE) -timeout 150m $(E2E) ./e2e

chance: ## let chance play with operators for longer than the tests do: CHANCE_SEEDS=5000 sequences each, in memory
	CHANCE_SEEDS=$${CHANCE_SEEDS:-5000} go test -count 1 -timeout 60m -v -run 'TestChance$$' ./pkg/internal/run/simulate

differential: ## draw definitions, custom resources and lives, and compare lint, the engines and the expressions: DEFINITIONS=20000, others with SEED=2
	DEFINITIONS=$${DEFINITIONS:-20000} DIFFERENCES=$(CURDIR)/bin/differences go test -count 1 -timeout 300m -v -run 'TestDifferential$$' ./pkg/internal/testing/differential

expressions: ## compare the pod's evaluation of random expressions with gojq's: POD_EXPRESSIONS=100000 POD_REGEXPS=100000, others with POD_SEED=2
	POD_EXPRESSIONS=$${POD_EXPRESSIONS:-100000} POD_REGEXPS=$${POD_REGEXPS:-100000} go test -count 1 -timeout 60m -v -run 'AgreesRandomly$$' ./pkg/internal/jq/expression

e2e-smoke: build ## the same in a few minutes: each example installed, one custom resource created, changed, deleted
	$(SUITE) -timeout 20m -short $(E2E) ./e2e

operators: build ## play operators that people really write on the cluster, and make docs/explanation/operators.md of it; some with OPERATORS=foo,at
	E2E_OPERATORS=$${OPERATORS:-all} E2E_OPERATORS_RESULTS=$(CURDIR)/docs/explanation/operators.json $(SUITE) -timeout 120m -run TestOperators $(E2E) ./e2e
	go run ./e2e/report

e2e-guards: build ## take away what each guarantee rests on and each right, one at a time: it has to be missed
	E2E_GUARDS=all $(SUITE) -timeout 120m -run 'TestGuards|TestLeastPrivilege' $(E2E) ./e2e

peers: build ## compare what is written for kustomize and Helm with what those make of it; builds them, as pinned in e2e/tools
	cd e2e/tools && go vet ./peers && go test -count 1 -timeout 60m ./peers

agreement: ## compare the validation of children with that of Kubernetes, as pinned in e2e/agreement, and make docs/explanation/agreement.md of it; takes minutes
	cd e2e/agreement && go vet . && go run .

linters: build ## compare argo lint, argo-events lint and argoperator lint on testdata/linters, and make docs/explanation/linters.md of it; takes minutes
	cd e2e/tools && go build -o ../../bin/ ./argolint
	cd e2e/linters && go vet ./... && go build -o ../../bin/ ./argoeventslint && go test -count 1 ./... && \
		go run . -argolint ../../bin/argolint -argoeventslint ../../bin/argoeventslint -argoperator ../../bin/argoperator

guarantees: ## bring docs/explanation/guarantees.md up to date by the results of the last e2e or e2e-guards
	go run ./e2e/report bin/e2e-results.json

bench: ## measure the generator beside helm, kustomize and argo lint, in one run; builds them; BENCH='-counts 1,10' for fewer
	go build -o bin/ ./e2e/bench ./e2e/bench/floor
	cd e2e/tools && go build -o ../../bin/ ./argolint helm.sh/helm/v4/cmd/helm sigs.k8s.io/kustomize/kustomize/v5
	go build -trimpath -ldflags "-X github.com/argoperator/argoperator/pkg/internal/base/release.Version=v0.0.0" -o bin/released ./cmd/argoperator
	go build -trimpath -o bin/ ./pkg/internal/testing/parts
	bin/bench -argoperator bin/released -results docs/explanation/performance-generator.json $(BENCH)
	go run ./e2e/report

bench-cluster: build ## measure operators on the cluster, the same in Go beside ours; one with CONTENDERS=direct/memcached
	go build -o bin/ ./e2e/reference
	E2E_BENCH="$${CONTENDERS:-all}" E2E_BENCH_RESULTS=$(CURDIR)/docs/explanation/performance-operators.json E2E_REFERENCE=$(CURDIR)/bin/reference \
		$(SUITE) -timeout 120m -run TestBench $(E2E) ./e2e
	go run ./e2e/report

# VitePress, as pinned in docs/package-lock.json. What DOCS holds goes to it, for instance DOCS='--base /argoperator/'.
VITEPRESS = cd docs && npm ci --ignore-scripts --no-audit --no-fund && node_modules/.bin/vitepress

docs: ## build the documentation as a site in docs/.vitepress/dist; needs npm
	$(VITEPRESS) build $(DOCS)

docs-serve: ## serve the site on localhost and update it while you write; needs npm
	$(VITEPRESS) dev $(DOCS)

kind: ## create a cluster on this machine with Argo Events, Argo Workflows and an EventBus (kind or k3d)
	.ci/kind up

kind-down: ## delete that cluster
	.ci/kind down

dist: ## build the archives of a release: VERSION=v1.2.3, some with PLATFORMS='linux/amd64'
	.ci/dist $${VERSION:?say which} dist $(PLATFORMS)

clean: ## remove what building leaves behind
	rm -rf bin dist .ci/linters/node_modules docs/node_modules docs/.vitepress/cache docs/.vitepress/dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
