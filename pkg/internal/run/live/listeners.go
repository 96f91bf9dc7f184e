package live

import "sync"

// Message is news for those who follow an operator; one of its fields is set.
type Message struct {
	Record *Summary     // something happened, or ended
	Object *ObjectState // an object was created or changed
	Gone   string       // uid of a deleted object
}

// listeners follow what happens.
type listeners struct {
	mu  sync.Mutex
	all map[*Listener]bool
}

func newListeners() *listeners { return &listeners{all: map[*Listener]bool{}} }

// Listener collects messages until they are taken, so that a slow one delays nobody.
type Listener struct {
	mu       sync.Mutex
	messages []Message
	ready    chan struct{} // has a value while there are messages
}

// Ready has a value when there are messages.
func (l *Listener) Ready() <-chan struct{} { return l.ready }

// Take returns the messages since the last call.
func (l *Listener) Take() []Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.messages
	l.messages = nil
	return out
}

func (l *Listener) tell(m Message) {
	l.mu.Lock()
	l.messages = append(l.messages, m)
	l.mu.Unlock()
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

func (l *listeners) tell(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range l.all {
		one.tell(m)
	}
}

func (l *listeners) add() (one *Listener, remove func()) {
	one = &Listener{ready: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[one] = true
	return one, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, one)
	}
}

// Listen returns a listener for everything that happens from now on.
func (l *Live) Listen() (one *Listener, remove func()) { return l.listens.add() }
