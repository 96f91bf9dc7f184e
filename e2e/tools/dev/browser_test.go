package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser is a headless Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser starts a Chromium without a profile, which ends with the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Fatal("there is no Chromium on the PATH")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1500, 1400), chromedp.WSURLReadTimeout(patience),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the process, whose directory must be free
		cancel()
	})
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("starting %s: %v", program, err)
	}
	return &browser{t, ctx}
}

// tab is a tab of the browser.
type tab struct {
	t     *testing.T // that uses it now
	owner *testing.T
	ctx   context.Context

	expectErrors bool

	mu     sync.Mutex
	errors []string // of scripts, and violations of the page's content policy
}

// open opens an address in a new tab. The test fails if a script of the page fails.
func (b *browser) open(url string) *tab {
	t := b.t
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	p := &tab{t: t, owner: t, ctx: ctx}
	if err := chromedp.Run(ctx); err != nil { // without a limit: the tab ends with this context
		t.Fatalf("opening a tab: %v", err)
	}
	chromedp.ListenTarget(ctx, p.listen)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the page shows:\n%s", p.shown())
		}
		for _, e := range p.failures() {
			if !p.expectErrors {
				t.Errorf("in the page: %s", e)
			}
		}
		cancel()
	})
	p.show()
	p.do(chromedp.Navigate(url))
	return p
}

// show brings the tab to the front: one in the background draws nothing.
func (p *tab) show() {
	p.t.Helper()
	p.do(cdpage.BringToFront())
}

// run uses the tab in a test of its own.
func (p *tab) run(name string, test func(t *testing.T)) {
	p.owner.Run(name, func(t *testing.T) {
		p.t = t
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the page shows:\n%s", p.shown())
			}
			p.t = p.owner
		})
		test(t)
	})
}

func (p *tab) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Error()
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError && e.Entry.Source != log.SourceNetwork { // answers such as 409 are expected
			text = e.Entry.Text
		}
	case *cdpage.EventJavascriptDialogOpening: // the question whether to leave the page
		go func() { _ = chromedp.Run(p.ctx, cdpage.HandleJavaScriptDialog(true)) }()
	}
	if text != "" {
		p.mu.Lock()
		p.errors = append(p.errors, text)
		p.mu.Unlock()
	}
}

func (p *tab) failures() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.errors
}

func (p *tab) shown() string {
	text := ""
	if err := chromedp.Run(p.ctx, chromedp.Evaluate(`document.body?.innerText ?? ''`, &text)); err != nil {
		return err.Error()
	}
	return text
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// value returns the value of a JavaScript expression.
func value[T any](p *tab, expression string, args ...any) T {
	p.t.Helper()
	var out T
	await := func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }
	p.do(chromedp.Evaluate(script(expression, args...), &out, await))
	return out
}

// script puts values into a JavaScript expression.
func script(expression string, args ...any) string {
	var encoded []any
	for _, a := range args {
		data, err := json.Marshal(a)
		if err != nil {
			panic(err) // texts and numbers have JSON
		}
		encoded = append(encoded, string(data))
	}
	return find + "; " + fmt.Sprintf(expression, encoded...)
}

// find returns the visible elements of a selector whose text or label has all parts.
const find = `var all = (selector, ...parts) => [...document.querySelectorAll(selector)].filter((e) => {
  const text = [e.textContent, e.getAttribute('aria-label')].join(' ');
  return e.checkVisibility() && parts.every((part) => text.includes(part));
})`

// until waits until an expression is true.
func (p *tab) until(what, expression string, args ...any) {
	p.t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if value[bool](p, "Boolean("+expression+")", args...) {
			return
		}
	}
	p.t.Fatalf("the page does not show: %s", what)
}

// sees waits for an element with texts.
func (p *tab) sees(selector string, texts ...string) {
	p.t.Helper()
	if texts == nil {
		texts = []string{}
	}
	p.until(selector+" with "+strings.Join(texts, ", "), "all(%s, ...%s).length > 0", selector, texts)
}

// seesNo waits until no element has the texts.
func (p *tab) seesNo(selector string, texts ...string) {
	p.t.Helper()
	if texts == nil {
		texts = []string{}
	}
	p.until("no "+selector+" with "+strings.Join(texts, ", "), "all(%s, ...%s).length === 0", selector, texts)
}

// texts returns the texts of the visible elements of a selector.
func (p *tab) texts(selector string) []string {
	p.t.Helper()
	return value[[]string](p, "all(%s).map((e) => e.textContent)", selector)
}

// click clicks with the mouse on the first visible element with texts. It waits until
// nothing covers the element.
func (p *tab) click(selector string, texts ...string) {
	p.t.Helper()
	if texts == nil {
		texts = []string{}
	}
	var at []float64
	for limit := time.Now().Add(patience); len(at) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			p.t.Fatalf("%s with %q cannot be clicked", selector, texts)
		}
		at = value[[]float64](p, `(() => {
  const element = all(%s, ...%s)[0];
  if (!element || element.disabled) return [];
  element.scrollIntoView({block: 'nearest', behavior: 'instant'});
  const {x, y, width, height} = element.getBoundingClientRect();
  const center = [x + width / 2, y + height / 2];
  return element.contains(document.elementFromPoint(...center)) ? center : [];
})()`, selector, texts)
	}
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// press presses keys one after the other: characters, or those of package kb.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.key(key, 0)
	}
}

// control presses a key together with Ctrl.
func (p *tab) control(key string) {
	p.t.Helper()
	p.key(key, input.ModifierCtrl)
}

// key presses a key. Unlike chromedp.KeyEvent, a page can prevent what the key does.
func (p *tab) key(key string, modifiers input.Modifier) {
	p.t.Helper()
	r, _ := utf8.DecodeRuneInString(key)
	is, ok := kb.Keys[r]
	if !ok {
		p.t.Fatalf("there is no key %q", key)
	}
	if is.Shift {
		modifiers |= input.ModifierShift
	}
	event := func(kind input.KeyType) *input.DispatchKeyEventParams {
		return input.DispatchKeyEvent(kind).WithKey(is.Key).WithCode(is.Code).WithModifiers(modifiers).
			WithNativeVirtualKeyCode(is.Native).WithWindowsVirtualKeyCode(is.Windows)
	}
	down := event(input.KeyDown)
	if is.Print && modifiers&input.ModifierCtrl == 0 {
		down = down.WithText(is.Text).WithUnmodifiedText(is.Unmodified)
	}
	p.do(down, event(input.KeyUp))
}

// The editor of the page shows only the visible lines of a text, so its state has the text.
const editorView = `all('.editor-host .cm-content')[0]?.cmTile?.root?.view`

// edited returns the text in the editor.
func (p *tab) edited() string {
	p.t.Helper()
	return value[string](p, editorView+`?.state.doc.toString() ?? ''`)
}

// paste replaces the text in the editor from the clipboard, as somebody does who selects
// everything first.
func (p *tab) paste(text string) {
	p.t.Helper()
	p.click(".editor-host .cm-scroller")
	p.control("a")
	p.do(chromedp.Evaluate(script(`(() => {
  const data = new DataTransfer();
  data.setData('text/plain', %s);
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
})()`, text), nil))
	p.until("the pasted text", editorView+`?.state.doc.toString() === %s`, text)
}

// replace replaces a part of the text in the editor.
func (p *tab) replace(old, now string) {
	p.t.Helper()
	text := p.edited()
	if !strings.Contains(text, old) {
		p.t.Fatalf("the editor has no %q:\n%s", old, text)
	}
	p.paste(strings.Replace(text, old, now, 1))
}
