// A user with rights to one name, or to the objects of one node, may select these, and sees nothing else.
import { bearer } from './forge.ts'
import { fieldsOf, METADATA, once, only, TABLE } from './selecting.ts'
import { row } from './row.ts'
import type { Headers, Row, Sent } from './row.ts'

const A = '/api/v1/namespaces/a'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const BAD = '400 BadRequest'
const FORBIDDEN = '403 Forbidden'
const encoded = encodeURIComponent

/** A user with rights to one name. The selector metadata.name authorizes the request as a request for that name. */
const named = once(async (world) => {
  const subjects = [{ kind: 'ServiceAccount', namespace: 'a', name: 'of-one-name' }]
  await world.make(`${A}/serviceaccounts`, { metadata: { name: 'of-one-name' } })
  await world.make(`${RBAC}/namespaces/a/roles`, {
    metadata: { name: 'of-one-name' },
    rules: [
      {
        apiGroups: [''],
        resources: ['configmaps', 'secrets'],
        resourceNames: ['one'],
        verbs: ['get', 'list', 'watch', 'delete', 'deletecollection'],
      },
    ],
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'of-one-name' }
  await world.make(`${RBAC}/namespaces/a/rolebindings`, { metadata: { name: 'of-one-name' }, roleRef, subjects })
  token = await world.token('a', 'of-one-name')
  // the authorizer of kube-apiserver sees a grant when its informer does
  if (!world.isKedge) await new Promise((resolve) => setTimeout(resolve, 1_000))
})
let token = ''
const byName = (rule: string, request: string, answer: string, check?: Row['check'], headers: Headers = {}): Row =>
  row(
    rule,
    'anonymous',
    request,
    answer,
    async (world): Promise<Sent> => {
      await named(world)
      return { headers: { ...bearer(token).headers, ...headers } }
    },
    check,
  )
const WATCHED = '/api/v1/watch/namespaces/a/secrets'
const ofOneName: readonly Row[] = [
  byName('its name', `GET ${A}/secrets?${fieldsOf('metadata.name=one')}`, '200', only('one')),
  byName('its name, metadata', `GET ${A}/secrets?${fieldsOf('metadata.name=one')}`, '200', only('one'), METADATA),
  byName('its name, a Table', `GET ${A}/secrets?${fieldsOf('metadata.name=one')}`, '200', only('one'), TABLE),
  byName('its name with ==', `GET ${A}/secrets?${fieldsOf('metadata.name==one')}`, '200', only('one')),
  byName(
    'its name and another: none is both',
    `GET ${A}/secrets?${fieldsOf('metadata.name=one,metadata.name=two')}`,
    '200',
    only(),
  ),
  byName('another and its name', `GET ${A}/secrets?${fieldsOf('metadata.name=two,metadata.name=one')}`, '200', only()),
  byName('another', `GET ${A}/secrets?${fieldsOf('metadata.name=two')}`, FORBIDDEN),
  byName('all but another', `GET ${A}/secrets?${fieldsOf('metadata.name!=two')}`, FORBIDDEN),
  byName('all but its name', `GET ${A}/secrets?${fieldsOf('metadata.name!=one')}`, FORBIDDEN),
  byName('no selector', `GET ${A}/secrets`, FORBIDDEN),
  byName('an empty one', `GET ${A}/secrets?fieldSelector=`, FORBIDDEN),
  byName('an empty one before it', `GET ${A}/secrets?fieldSelector=&${fieldsOf('metadata.name=one')}`, FORBIDDEN),
  byName(
    'an empty one behind it: the first counts',
    `GET ${A}/secrets?${fieldsOf('metadata.name=one')}&fieldSelector=`,
    '200',
    only('one'),
  ),
  byName(
    'another behind it',
    `GET ${A}/secrets?${fieldsOf('metadata.name=one')}&${fieldsOf('metadata.name=two')}`,
    '200',
    only('one'),
  ),
  byName('its name in other letters', `GET ${A}/secrets?${fieldsOf('metadata.Name=one')}`, FORBIDDEN),
  byName('a label of that name', `GET ${A}/secrets?labelSelector=${encoded('metadata.name=one')}`, FORBIDDEN),
  byName('a pattern', `GET ${A}/secrets?${fieldsOf('metadata.name=o*')}`, FORBIDDEN),
  byName('with what cannot be read behind it', `GET ${A}/secrets?${fieldsOf('metadata.name=one,x')}`, FORBIDDEN),
  byName('with an unknown field', `GET ${A}/secrets?${fieldsOf('metadata.name=one,data.x=y')}`, BAD),
  byName(
    'with labels that cannot be read',
    `GET ${A}/secrets?${fieldsOf('metadata.name=one')}&labelSelector=%21%21`,
    FORBIDDEN,
  ),
  byName('with a limit that is none', `GET ${A}/secrets?${fieldsOf('metadata.name=one')}&limit=x`, FORBIDDEN),
  byName('with an escaped name', `GET ${A}/secrets?${fieldsOf('metadata.name=o\\ne')}`, FORBIDDEN),
  byName(
    'with another namespace',
    `GET ${A}/secrets?${fieldsOf('metadata.name=one,metadata.namespace=b')}`,
    '200',
    only(),
  ),
  byName('in another namespace', `GET /api/v1/namespaces/b/secrets?${fieldsOf('metadata.name=one')}`, FORBIDDEN),
  byName('in all', `GET /api/v1/secrets?${fieldsOf('metadata.name=one')}`, FORBIDDEN),
  byName('of a page of another’s', `GET ${A}/secrets?limit=1&${fieldsOf('metadata.name=one')}`, '200', only('one')),
  byName('of another resource', `GET ${A}/serviceaccounts?${fieldsOf('metadata.name=one')}`, FORBIDDEN),
  // deletecollection is authorized without a name, whatever it selects
  byName('a deletion by its name', `DELETE ${A}/secrets?dryRun=All&${fieldsOf('metadata.name=one')}`, FORBIDDEN),
  byName('a deletion of all', `DELETE ${A}/secrets?dryRun=All`, FORBIDDEN),
  byName('the deletion of it', `DELETE ${A}/secrets/one?dryRun=All&${fieldsOf('metadata.name=two')}`, '200'),
  byName(
    'a watch of its name',
    `GET ${A}/secrets?watch=1&timeoutSeconds=1&${fieldsOf('metadata.name=one')}`,
    '200',
    ({ text }) => {
      if (text.includes('"name":"two"') || !text.includes('"name":"one"')) throw new Error(text.slice(0, 300))
    },
  ),
  byName('a watch of another', `GET ${A}/secrets?watch=1&timeoutSeconds=1&${fieldsOf('metadata.name=two')}`, FORBIDDEN),
  byName('a watch of all', `GET ${A}/secrets?watch=1&timeoutSeconds=1`, FORBIDDEN),
  byName(
    'the old path of another, selecting its own',
    `GET ${WATCHED}/two?timeoutSeconds=1&${fieldsOf('metadata.name=one')}`,
    FORBIDDEN,
  ),
  byName(
    'the old path of its own, selecting another',
    `GET ${WATCHED}/one?timeoutSeconds=1&${fieldsOf('metadata.name=two')}`,
    BAD,
  ),
  byName('and not that name', `GET ${WATCHED}/one?timeoutSeconds=1&${fieldsOf('metadata.name!=one')}`, BAD),
  byName('and a type', `GET ${WATCHED}/one?timeoutSeconds=1&${fieldsOf('type=Opaque')}`, BAD),
  byName('the old path of all', `GET ${WATCHED}?timeoutSeconds=1`, FORBIDDEN),
]

/** A node sees its own pods and ResourceSlices. No path may authorize the node's selector and then not apply it. */
const PODS_WATCHED = '/api/v1/watch/namespaces/a/pods'
const SLICES = '/apis/resource.k8s.io/v1'
const nothingOfOthers: Row['check'] = ({ status, text }) => {
  if (status === 200 && /"name":"(pod-n2|unbound)"/.test(text)) throw new Error(text.slice(0, 300))
}
const ofNode = (rule: string, request: string, answer: string): Row =>
  row(rule, 'node', request, answer, undefined, nothingOfOthers)
const OWN = fieldsOf('spec.nodeName=n1')
const ofNodes: readonly Row[] = [
  ...['pod-n2', 'unbound', 'ghost'].map((name) =>
    ofNode(
      'the old path of another’s pod, selecting its own',
      `GET ${PODS_WATCHED}/${name}?timeoutSeconds=1&${OWN}`,
      FORBIDDEN,
    ),
  ),
  ofNode(
    'the same of any namespace',
    `GET /api/v1/watch/namespaces/kube-system/pods/x?timeoutSeconds=1&${OWN}`,
    FORBIDDEN,
  ),
  ofNode(
    'both, which none is',
    `GET ${PODS_WATCHED}/pod-n2?timeoutSeconds=1&${fieldsOf('metadata.name=pod-n2,spec.nodeName=n1')}`,
    FORBIDDEN,
  ),
  ofNode(
    'its own pod with both',
    `GET ${PODS_WATCHED}/pod-n1?timeoutSeconds=1&${fieldsOf('metadata.name=pod-n1,spec.nodeName=n1')}`,
    '200',
  ),
  // on these paths no selector gives rights
  ofNode('its own by the old path', `GET ${PODS_WATCHED}?timeoutSeconds=1&${OWN}`, FORBIDDEN),
  ofNode('its own everywhere by the old path', `GET /api/v1/watch/pods?timeoutSeconds=1&${OWN}`, FORBIDDEN),
  ofNode('its own pod', `GET ${PODS_WATCHED}/pod-n1?timeoutSeconds=1`, '200'),
  ofNode('another’s', `GET ${PODS_WATCHED}/pod-n2?timeoutSeconds=1`, FORBIDDEN),
  ofNode('devices by their old path', `GET ${SLICES}/watch/resourceslices/x?timeoutSeconds=1&${OWN}`, FORBIDDEN),
  ofNode('all devices by their old path', `GET ${SLICES}/watch/resourceslices?timeoutSeconds=1`, FORBIDDEN),
  ofNode('its pods and those of another', `GET ${A}/pods?${fieldsOf('spec.nodeName=n1,spec.nodeName=n2')}`, '200'),
  ofNode('two selectors, its own second', `GET ${A}/pods?fieldSelector=&${OWN}`, FORBIDDEN),
  ofNode('two selectors, its own first', `GET ${A}/pods?${OWN}&fieldSelector=`, '200'),
  ofNode('its own with what cannot be read', `GET ${A}/pods?${fieldsOf('spec.nodeName=n1,x')}`, FORBIDDEN),
  ofNode('its own name in other letters', `GET ${A}/pods?${fieldsOf('spec.nodeName=N1')}`, FORBIDDEN),
  ofNode('its own by an escape', `GET ${A}/pods?${fieldsOf('spec.nodeName=n\\1')}`, FORBIDDEN),
  ofNode('no node', `GET ${A}/pods?${fieldsOf('spec.nodeName=')}`, FORBIDDEN),
  ofNode('a label of that name', `GET ${A}/pods?labelSelector=${encoded('spec.nodeName=n1')}`, FORBIDDEN),
  ofNode('its own are not deleted at once', `DELETE ${A}/pods?dryRun=All&${OWN}`, FORBIDDEN),
  ofNode('another’s pod by a list of one name', `GET ${A}/pods?${fieldsOf('metadata.name=pod-n2')}`, FORBIDDEN),
  ofNode('its own by a list of one name', `GET ${A}/pods?${fieldsOf('metadata.name=pod-n1')}`, '200'),
]

export const selectedNames: readonly Row[] = [...ofOneName, ...ofNodes]
