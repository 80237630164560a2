//go:build tools

// Package runc pins what starts the containers of the end-to-end tests.
package runc

import _ "github.com/opencontainers/runc"
