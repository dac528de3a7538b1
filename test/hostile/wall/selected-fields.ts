// A selector of an unknown field selects and deletes nothing. The selectableFields of a definition match whole values.
import { row } from './row.ts'
import type { Headers, Row } from './row.ts'
import { fieldsOf, METADATA, once, only } from './selecting.ts'
import type { World } from './world.ts'

const BAD = '400 BadRequest'
const A = '/api/v1/namespaces/a'

const COLLECTIONS: readonly string[] = [
  `${A}/pods`,
  `${A}/secrets`,
  `${A}/serviceaccounts`,
  '/api/v1/nodes',
  '/apis/apps/v1/namespaces/a/deployments',
  '/apis/batch/v1/namespaces/a/jobs',
  '/apis/coordination.k8s.io/v1/namespaces/a/leases',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests',
]
const UNKNOWN: readonly string[] = [
  'spec.nodename=n1',
  'metadata.labels=x',
  'metadata.uid=x',
  'kind=Pod',
  'constructor=x',
  'toString!=x',
  '__proto__=x',
  'metadata.__proto__=x',
  '.metadata.name=x',
  'metadata.name =x',
  "metadata['name']=x",
  'metadata.name.x=y',
]
const unknown: readonly Row[] = COLLECTIONS.flatMap((path) =>
  UNKNOWN.flatMap((selector) => [
    row(`a list by ${selector}`, 'admin', `GET ${path}?${fieldsOf(selector)}`, BAD),
    row(`a deletion by ${selector}`, 'admin', `DELETE ${path}?dryRun=All&${fieldsOf(selector)}`, BAD),
  ]),
)

const PODS: readonly (readonly [selector: string, names: readonly string[]])[] = [
  ['spec.nodeName=n1', ['pod-n1']],
  ['spec.nodeName=', ['unbound']],
  ['spec.nodeName!=n1', ['pod-n2', 'unbound']],
  ['spec.nodeName!=n1,spec.nodeName!=n2', ['unbound']],
  ['spec.nodeName==n1,metadata.name=pod-n1', ['pod-n1']],
  ['spec.nodeName=n1,metadata.name=pod-n2', []],
  ['spec.serviceAccountName=default,spec.nodeName=n2', ['pod-n2']],
  ['spec.restartPolicy=Always,spec.nodeName=n1', ['pod-n1']],
  ['spec.restartPolicy=always', []],
  ['spec.hostNetwork=true', []],
  ['spec.hostNetwork=false,spec.nodeName=n1', ['pod-n1']],
  ['spec.schedulerName=default-scheduler,spec.nodeName=n1', ['pod-n1']],
  ['status.phase=Pending,spec.nodeName=n1', ['pod-n1']],
  ['status.phase=Running', []],
  ['status.podIP=', ['pod-n1', 'pod-n2', 'unbound']],
  ['status.nominatedNodeName=,spec.nodeName=n1', ['pod-n1']],
  ['metadata.namespace=a,metadata.name=unbound', ['unbound']],
  ['metadata.namespace!=a', []],
  ['metadata.name=*', []],
  ['metadata.name=pod-n1 ', []],
  ['metadata.name=POD-N1', []],
  ['metadata.name=%', []],
  ['metadata.name=a/pod-n1', []],
  ['metadata.name=../b/x', []],
]
const pods: readonly Row[] = PODS.flatMap(([selector, names]) => [
  row(selector, 'owner', `GET ${A}/pods?${fieldsOf(selector)}`, '200', undefined, only(...names)),
  row(selector, 'owner', `DELETE ${A}/pods?dryRun=All&${fieldsOf(selector)}`, '200', undefined, only(...names)),
])

const GROUP = 'selected.example.com'
const THINGS = `/apis/${GROUP}/v1/namespaces/a/things`
const SPECS: readonly object[] = [
  {},
  { colour: 'a,b' },
  { colour: 'a=b' },
  { colour: 'a\\b' },
  { colour: '"q"' },
  { colour: '\u00e9\ud83d\ude00' },
  { colour: '' },
  { size: 7 },
  { on: true },
  { colour: 'constructor' },
]
const things = once(async (world) => {
  const properties = { colour: { type: 'string' }, size: { type: 'integer' }, on: { type: 'boolean' } }
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  }
  // identical versions count as one schema of the whole definition, which has no selectable fields
  const other = { openAPIV3Schema: { ...schema.openAPIV3Schema, description: 'v2' } }
  const selectableFields = Object.keys(properties).map((name) => ({ jsonPath: `.spec.${name}` }))
  await world.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `things.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema, selectableFields },
        { name: 'v2', served: true, storage: false, schema: other },
      ],
    },
  })
  await served(world)
  for (const [at, spec] of SPECS.entries())
    await world.make(THINGS, { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name: `t-${at}` }, spec })
})
async function served(world: World): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await world.send('admin', 'GET', THINGS)
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the definition is not served')
}

const SELECTED: readonly (readonly [selector: string, numbers: readonly number[]])[] = [
  ['spec.colour=a\\,b', [1]],
  ['spec.colour=a\\=b', [2]],
  ['spec.colour=a\\\\b', [3]],
  ['spec.colour="q"', [4]],
  ['spec.colour=\u00e9\ud83d\ude00', [5]],
  ['spec.colour=e\u0301\ud83d\ude00', []],
  ['spec.colour=', [0, 6, 7, 8]],
  ['spec.colour!=', [1, 2, 3, 4, 5, 9]],
  ['spec.colour!=a\\,b,spec.colour!=', [2, 3, 4, 5, 9]],
  ['spec.size=7', [7]],
  ['spec.size=07', []],
  ['spec.size=7.0', []],
  ['spec.size!=7,spec.size!=', []],
  ['spec.on=true', [8]],
  ['spec.on=True', []],
  ['spec.on=1', []],
  ['spec.colour=constructor', [9]],
  ['spec.colour=constructor,spec.size=7', []],
  ['spec.colour=*', []],
  ['metadata.name=t-1,spec.colour=a\\=b', []],
]
const asked = (
  who: 'owner' | 'admin',
  rule: string,
  request: string,
  answer: string,
  more: Headers,
  check?: Row['check'],
) =>
  row(
    rule,
    who,
    request,
    answer,
    async (world) => {
      await things(world)
      return { headers: more }
    },
    check,
  )
const custom: readonly Row[] = [
  ...SELECTED.flatMap(([selector, numbers]) => {
    const check = only(...numbers.map((number) => `t-${number}`))
    return [
      asked('owner', selector, `GET ${THINGS}?${fieldsOf(selector)}`, '200', {}, check),
      asked('owner', selector, `GET ${THINGS}?${fieldsOf(selector)}`, '200', METADATA, check),
      asked('owner', selector, `DELETE ${THINGS}?dryRun=All&${fieldsOf(selector)}`, '200', {}, check),
    ]
  }),
  ...[
    '.spec.colour=a',
    'spec.Colour=a',
    'spec.constructor=a',
    'spec.other=a',
    'spec=a',
    'spec.colour.x=a',
    "spec['colour']=a",
    'spec.colour=a,b',
    'spec.colour=a\\b',
    'spec.colour=a=b',
    'status.x=1',
  ].flatMap((selector) => [
    asked('owner', selector, `GET ${THINGS}?${fieldsOf(selector)}`, BAD, {}),
    asked('owner', selector, `DELETE ${THINGS}?dryRun=All&${fieldsOf(selector)}`, BAD, {}),
  ]),
  asked('owner', 'a field of another version', `GET ${THINGS.replace('v1', 'v2')}?${fieldsOf('spec.size=7')}`, BAD, {}),
  asked(
    'owner',
    'a deletion by it',
    `DELETE ${THINGS.replace('v1', 'v2')}?dryRun=All&${fieldsOf('spec.size=7')}`,
    BAD,
    {},
  ),
]

export const selectedFields: readonly Row[] = [...unknown, ...pods, ...custom]
