// columns.json and defaults.json → the tables of the table columns and of defaulting.
const rows = (list) => `[\n${list.map((row) => JSON.stringify(row)).join(',\n')}\n]`

/** The default columns, and those of scale and status, which have no list to observe. */
const FURTHER_COLUMNS = {
  default: [
    { name: 'Name', type: 'string', format: 'name', priority: 0 },
    { name: 'Created At', type: 'date', priority: 0 },
  ],
  scale: [
    { name: 'Name', type: 'string', priority: 0 },
    { name: 'Desired', type: 'integer', priority: 0 },
    { name: 'Available', type: 'integer', priority: 0 },
    { name: 'Age', type: 'string', priority: 0 },
  ],
  status: ['Status', 'Reason', 'Message'].map((name) => ({ name, type: 'string', priority: 0 })),
}

export function columnsTable(columns) {
  const texts = []
  const index = (text) => {
    const known = texts.indexOf(text)
    return known < 0 ? texts.push(text) - 1 : known
  }
  const sorted = Object.entries(columns).sort(([a], [b]) => (a < b ? -1 : 1))
  // `version/resource` or `group/version/resource` → [name, type, format, index of the description, priority]
  const entries = sorted.map(([resource, list]) => [
    resource,
    list.map(({ name, type, format, description, priority }) => [name, type, format, index(description), priority]),
  ])
  return `{"default":${JSON.stringify(FURTHER_COLUMNS.default)},
"scale":${JSON.stringify(FURTHER_COLUMNS.scale)},
"status":${JSON.stringify(FURTHER_COLUMNS.status)},
"columns":{\n${entries.map(([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`).join(',\n')}\n},
"descriptions":${rows(texts)}}\n`
}

const conditions = ['absent', 'empty', '==0']

/** Whether a row needs no code: it is a value for an absent path. */
const isPlain = ({ path, when, value, copyFrom, gate }) =>
  conditions.includes(when) &&
  value !== undefined &&
  copyFrom === undefined &&
  gate === undefined &&
  /^[\w.]+$/.test(path) &&
  !(typeof value === 'string' && /^(now|as|lower|=)(?!\w)|^\[/.test(value))

/** Types of other served versions with the same defaults as in v1, by package. */
const AS_IN_V1 = {
  'io.k8s.api.admissionregistration': {
    v1beta1: ['MatchResources', 'MutatingAdmissionPolicySpec'],
    v1alpha1: ['MatchResources', 'MutatingAdmissionPolicySpec'],
  },
  'io.k8s.api.resource': {
    v1beta2: ['DeviceSubRequest', 'DeviceTaint', 'ExactDeviceRequest', 'NodeAllocatableResourceMapping'],
    v1beta1: ['DeviceSubRequest', 'DeviceTaint', 'NodeAllocatableResourceMapping'],
    v1alpha3: ['DeviceTaint'],
  },
}

/** Rows that the facts lack. */
const FURTHER = [
  {
    type: 'io.k8s.api.admissionregistration.v1alpha1.ParamRef',
    path: 'parameterNotFoundAction',
    when: 'absent',
    value: 'Deny',
  },
  {
    type: 'io.k8s.api.resource.v1.NodeAllocatableResourceMapping',
    path: 'allocationMultiplier',
    when: 'absent',
    value: '1',
  },
  // v1 needs no such condition: it has ExactDeviceRequest only where a client sends it
  { type: 'io.k8s.api.resource.v1beta1.DeviceRequest', path: 'allocationMode', when: 'deviceClassName is set' },
]

function ofFurtherVersions(rows) {
  const of = (type) => rows.filter((row) => row.type === type)
  return Object.entries(AS_IN_V1).flatMap(([group, versions]) =>
    Object.entries(versions).flatMap(([version, names]) =>
      names.flatMap((name) =>
        of(`${group}.v1.${name}`).map((row) => ({ ...row, type: `${group}.${version}.${name}` })),
      ),
    ),
  )
}

/**
 * `rows`: type → [path, when, value], in the order in which they apply. `code`: the types with a rule that needs code;
 * default-rules.ts has functions for all rules of these types. Rows with a note have no effect on answers.
 */
export function defaultsTable({ functionDefaults }) {
  const byType = new Map()
  const known = [...functionDefaults, ...FURTHER]
  for (const row of [...known, ...ofFurtherVersions(known)].filter(({ note }) => note === undefined))
    byType.set(row.type, [...(byType.get(row.type) ?? []), row])
  const plain = [...byType].filter(([, list]) => list.every(isPlain))
  const code = [...byType].filter(([, list]) => !list.every(isPlain)).map(([type]) => type)
  const entries = plain.map(([type, list]) => [type, list.map(({ path, when, value }) => [path, when, value])])
  return `{"rows":{\n${entries.map(([type, list]) => `${JSON.stringify(type)}:${rows(list)}`).join(',\n')}\n},
"code":${rows(code)}}\n`
}
