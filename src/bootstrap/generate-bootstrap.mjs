// Makes bootstrap-table.json from the recorded objects of a fresh server (facts: GROUP/VERSION/RESOURCE → NAME →
// {managers, object}). The table has only objects that are equal on all servers: RBAC, flow control, priority classes.
export const bootstrapResources = [
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  'flowcontrol.apiserver.k8s.io/v1/flowschemas',
  'rbac.authorization.k8s.io/v1/clusterroles',
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  'rbac.authorization.k8s.io/v1/roles',
  'rbac.authorization.k8s.io/v1/rolebindings',
  'scheduling.k8s.io/v1/priorityclasses',
]

export function bootstrapTable(facts) {
  const lines = bootstrapResources.map((table) => {
    const objects = Object.values(facts[table]).map(({ object }) => object)
    const { kind, apiVersion } = objects[0]
    const rows = objects.map((object) => JSON.stringify(rowOf(object)))
    const resource = table.split('/').at(-1)
    return `  { "resource": "${resource}", "kind": "${kind}", "apiVersion": "${apiVersion}", "objects": [\n    ${rows.join(',\n    ')}\n  ] }`
  })
  return `[\n${lines.join(',\n')}\n]\n`
}

/**
 * The object without kind and apiVersion, which its table has. `aggregate` names the role that gets its rules by a
 * label.
 */
function rowOf({ kind: _kind, apiVersion: _apiVersion, metadata, ...rest }) {
  const { name, namespace, labels = {}, generation } = metadata
  const aggregate = Object.keys(labels).find((label) => label.includes('/aggregate-to-'))
  for (const condition of rest.status?.conditions ?? []) delete condition.lastTransitionTime
  return {
    name,
    ...(namespace && { namespace }),
    ...(aggregate && { aggregate: aggregate.split('/aggregate-to-')[1] }),
    ...(generation && { generation }),
    ...rest,
  }
}
