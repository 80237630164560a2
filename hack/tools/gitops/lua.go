package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

// scripts are health checks by "group/Kind", run as Argo CD runs those of argocd-cm (util/lua of v3.5): its module would bring four
// hundred packages along.
type scripts map[string]string

// What a script of argocd-cm may use, without useOpenLibs. Argo CD adds time and date of os, which ours does not use.
var libraries = map[string]lua.LGFunction{
	lua.LoadLibName: lua.OpenPackage,
	lua.BaseLibName: lua.OpenBase,
	lua.TabLibName:  lua.OpenTable,
}

// Longest that Argo CD lets a script run.
const scriptPatience = time.Second

func (s scripts) GetResourceHealth(object *unstructured.Unstructured) (*health.HealthStatus, error) {
	kind := object.GroupVersionKind()
	script := s[kind.Group+"/"+kind.Kind]
	if script == "" {
		return nil, nil
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, name := range []string{lua.LoadLibName, lua.BaseLibName, lua.TabLibName} {
		open := lua.P{Fn: state.NewFunction(libraries[name]), Protect: true}
		if err := state.CallByParam(open, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", valueOf(state, object.Object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("the script of %s returns no table", kind.Kind)
	}
	text, err := luajson.Encode(table)
	if err != nil {
		return nil, err
	}
	var status health.HealthStatus
	return &status, json.Unmarshal(text, &status)
}

func valueOf(state *lua.LState, value any) lua.LValue {
	switch given := value.(type) {
	case bool:
		return lua.LBool(given)
	case float64:
		return lua.LNumber(given)
	case int64:
		return lua.LNumber(given)
	case string:
		return lua.LString(given)
	case []any:
		table := state.NewTable()
		for _, item := range given {
			table.Append(valueOf(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range given {
			table.RawSetString(key, valueOf(state, item))
		}
		return table
	}
	return lua.LNil
}
