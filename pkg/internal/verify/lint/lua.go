package lint

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	golua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

const returnBoolean = "return a boolean: return event.body.a == 1"

func lua(script string) ([]ast.Stmt, error) {
	chunk, err := parse.Parse(strings.NewReader(script), "script")
	if wrong := (*parse.Error)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("not Lua, in line %d at %q: %s", max(wrong.Pos.Line, 1), wrong.Token, wrong.Message)
	}
	return chunk, err
}

// returned returns the results of a script: the last value of each return outside of its functions.
func returned(chunk []ast.Stmt) []ast.Expr {
	var out []ast.Expr
	for _, s := range chunk {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			if len(s.Exprs) > 0 {
				out = append(out, s.Exprs[len(s.Exprs)-1])
			}
		case *ast.IfStmt:
			out = append(append(out, returned(s.Then)...), returned(s.Else)...)
		case *ast.DoBlockStmt:
			out = append(out, returned(s.Stmts)...)
		case *ast.WhileStmt:
			out = append(out, returned(s.Stmts)...)
		case *ast.RepeatStmt:
			out = append(out, returned(s.Stmts)...)
		case *ast.NumberForStmt:
			out = append(out, returned(s.Stmts)...)
		case *ast.GenericForStmt:
			out = append(out, returned(s.Stmts)...)
		}
	}
	return out
}

// mayBeTrue reports whether a value can be true itself: a Sensor takes a text or a number for false.
func mayBeTrue(e ast.Expr) bool {
	switch e.(type) {
	case *ast.StringExpr, *ast.NumberExpr, *ast.NilExpr, *ast.FalseExpr, *ast.TableExpr, *ast.FunctionExpr, *ast.StringConcatOpExpr,
		*ast.ArithmeticOpExpr:
		return false
	}
	return true
}

// unknownGlobal returns a variable that a script always uses, and that neither it nor a Sensor sets; "" if there is none.
func unknownGlobal(chunk []ast.Stmt) string {
	known := map[string]bool{"event": true}
	assigned(reflect.ValueOf(chunk), known)
	library := golua.NewState()
	defer library.Close()
	found := ""
	use := func(e ast.Expr) {
		name, is := e.(*ast.IdentExpr)
		if is && !known[name.Value] && library.GetGlobal(name.Value) == golua.LNil {
			found = cmp.Or(found, name.Value)
		}
	}
	for _, s := range chunk {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			eachUse(use, s.Exprs...)
		case *ast.LocalAssignStmt:
			eachUse(use, s.Exprs...)
		case *ast.AssignStmt:
			eachUse(use, s.Rhs...)
		case *ast.IfStmt:
			eachUse(use, s.Condition)
			return found // the rest may not run
		case *ast.FuncDefStmt:
		default:
			return found
		}
	}
	return found
}

// eachUse calls use for what expressions always index or call: that must not be nil.
func eachUse(use func(ast.Expr), list ...ast.Expr) {
	for _, e := range list {
		switch e := e.(type) {
		case *ast.AttrGetExpr:
			use(e.Object)
			eachUse(use, e.Object, e.Key)
		case *ast.FuncCallExpr:
			for _, called := range []ast.Expr{e.Func, e.Receiver} {
				if called != nil {
					use(called)
					eachUse(use, called)
				}
			}
			eachUse(use, e.Args...)
		case *ast.LogicalOpExpr:
			eachUse(use, e.Lhs) // decides whether the other one is evaluated
		case *ast.RelationalOpExpr:
			eachUse(use, e.Lhs, e.Rhs)
		case *ast.StringConcatOpExpr:
			eachUse(use, e.Lhs, e.Rhs)
		case *ast.ArithmeticOpExpr:
			eachUse(use, e.Lhs, e.Rhs)
		case *ast.UnaryNotOpExpr:
			eachUse(use, e.Expr)
		}
	}
}

// assigned collects the names that a script sets anywhere: those of variables, parameters and functions.
func assigned(v reflect.Value, names map[string]bool) {
	switch s := v.Interface().(type) {
	case *ast.LocalAssignStmt:
		addAll(names, s.Names)
	case *ast.GenericForStmt:
		addAll(names, s.Names)
	case *ast.NumberForStmt:
		names[s.Name] = true
	case *ast.ParList:
		addAll(names, s.Names)
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			if name, is := e.(*ast.IdentExpr); is {
				names[name.Value] = true
			}
		}
	case *ast.FuncName:
		if name, is := s.Func.(*ast.IdentExpr); is {
			names[name.Value] = true
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			assigned(v.Elem(), names)
		}
	case reflect.Slice:
		for n := range v.Len() {
			assigned(v.Index(n), names)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				assigned(v.Field(n), names)
			}
		}
	}
}

func addAll(names map[string]bool, list []string) {
	for _, name := range list {
		names[name] = true
	}
}
