module github.com/argoperator/argoperator/e2e/dev

go 1.26.0
