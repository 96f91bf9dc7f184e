package scaffold_test

import (
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/testing/pythontest"
)

func TestMain(m *testing.M) {
	defer pythontest.Start()()
	m.Run()
}
