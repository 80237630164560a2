package main

import (
	"context"

	flux "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/yaml"
)

// decode answers what is wrong with each Kustomization, by the type of Flux: a field that it does not have, or another type.
func decode(_ context.Context, r request) (any, error) {
	answers := make([]string, len(r.Resources))
	for i, object := range r.Resources {
		text, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, &flux.Kustomization{}); err != nil {
			answers[i] = err.Error()
		}
	}
	return answers, nil
}
