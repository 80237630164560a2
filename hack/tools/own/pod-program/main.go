// What runs in the containers of the end-to-end tests, as the only program of their image:
//
//	pod-program pause
//	pod-program use NAME FOLDER…
//
// pause does nothing until it is ended. use writes a file of this name to each folder again and again and reads it back, until
// it is ended; a folder with "ro:" before it has to refuse that. What goes wrong is written to the termination log.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	interval       = 100 * time.Millisecond
	terminationLog = "/dev/termination-log"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	if len(os.Args) < 4 || os.Args[1] != "use" {
		<-ended
		return
	}
	for round := 1; ; round++ {
		for _, folder := range os.Args[3:] {
			if err := use(folder, os.Args[2], round); err != nil {
				message := fmt.Sprintf("round %d: %v\n", round, err)
				fmt.Fprint(os.Stderr, message)
				_ = os.WriteFile(terminationLog, []byte(message), 0o600)
				os.Exit(1)
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(interval):
		}
	}
}

func use(folder, name string, round int) error {
	if readOnly, found := strings.CutPrefix(folder, "ro:"); found {
		path := filepath.Join(readOnly, name)
		if err := os.WriteFile(path, nil, 0o600); !errors.Is(err, syscall.EROFS) {
			return fmt.Errorf("%s: it should be read-only, and writing ended with %v", path, err)
		}
		_, err := os.ReadDir(readOnly)
		return err
	}
	path := filepath.Join(folder, name)
	text := fmt.Sprintf("%s %d\n", name, round)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	found, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if string(found) != text {
		return fmt.Errorf("%s: written %q, read %q", path, text, found)
	}
	return nil
}
