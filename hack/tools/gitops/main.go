// Command gitops does with manifests what Argo CD does with them, by its engine and its Lua. It takes one request as JSON on stdin
// and answers with JSON on stdout.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type request struct {
	// Of an administrator; for diff and sync.
	Kubeconfig string `json:"kubeconfig"`
	// By "group/Kind", as argocd-cm has them.
	HealthLua scripts `json:"healthLua"`
	// What git has.
	Resources []*unstructured.Unstructured `json:"resources"`
	// Whether the Application has the sync option ServerSideApply=true.
	ServerSideApply bool `json:"serverSideApply"`
	// For diff: what the API server has, at the same places.
	Live []*unstructured.Unstructured `json:"live"`
	// For sync: the Application, whose objects are pruned once git has them no more.
	Application string `json:"application"`
}

// Longest that a request may take: a sync waits for what it prunes.
const patience = 3 * time.Minute

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var r request
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	do := map[string]func(context.Context, request) (any, error){
		"decode": decode, "diff": diffOf, "health": healthOf, "sync": sync,
	}
	if len(os.Args) != 2 || do[os.Args[1]] == nil {
		return fmt.Errorf("usage: gitops decode|diff|health|sync")
	}
	answer, err := do[os.Args[1]](ctx, r)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

func (r request) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 200, 400
	return config, nil
}
