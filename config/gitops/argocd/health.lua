-- Health of a NodeVolumeSet for Argo CD, by the rules of kstatus: Current is Healthy, InProgress is Progressing, Failed is Degraded.
-- A set that is suspended before it is complete is Suspended, for which kstatus has no word. Argo CD itself answers for a set that is
-- being deleted: Progressing. docs/tasks/gitops.md shows how to install it.
local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function health(code, condition)
  return { status = code, message = condition and condition.message }
end

local function isTrue(condition)
  return condition ~= nil and condition.status == "True"
end

if status.observedGeneration ~= nil and status.observedGeneration ~= obj.metadata.generation then
  return health("Progressing", { message = "the newest spec has not been observed yet" })
end
if isTrue(conditions.Stalled) then
  return health("Degraded", conditions.Stalled)
end
local ready = conditions.Ready
if ready ~= nil and ready.status ~= "True" and ready.reason == "Suspended" then
  return health("Suspended", ready)
end
if isTrue(conditions.Reconciling) then
  return health("Progressing", conditions.Reconciling)
end
if ready == nil or ready.status == "True" then
  return health("Healthy", ready)
end
return health("Progressing", ready)
