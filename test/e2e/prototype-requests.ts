/** The same requests for any name that a client may choose. Bodies are JSON text: an object would lose such names. */
import { prototypeNames } from '../prototype-names.ts'
import { Encoder } from './cbor-text.ts'

export interface Step {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The test repeats the request until the answer contains this text. */
  readonly until?: string
}

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
const APPLY = 'application/apply-patch+yaml'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const forms = ['application/json', 'application/yaml', 'application/cbor', 'application/vnd.kubernetes.protobuf', TABLE]

const sent = (method: string, path: string, body: string | Uint8Array, type = 'application/json'): Step => ({
  method,
  path,
  body,
  headers: { 'Content-Type': type },
})
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Step => ({ method: 'GET', path, headers })
const inEveryForm = (path: string): Step[] => forms.map((Accept) => get(path, { Accept }))

/** Keys of ConfigMaps and Secrets through every form and every kind of patch. */
export function dataKeys(namespace: string, name: string): Step[] {
  const key = JSON.stringify(name)
  const maps = `/api/v1/namespaces/${namespace}/configmaps`
  const secrets = `/api/v1/namespaces/${namespace}/secrets`
  const map = (meta: string, data: string) => `{"metadata":{"name":${JSON.stringify(meta)}},"data":${data}}`
  const apply = (manager: string, data: string, more = '') =>
    sent(
      'PATCH',
      `${maps}/applied?fieldManager=${manager}${more}`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":${data}}`,
      APPLY,
    )
  return [
    sent('POST', maps, map('a', `{${key}:"1","a":"2","z":"3"}`)),
    ...inEveryForm(`${maps}/a`),
    sent('PUT', `${maps}/a`, map('a', `{${key}:"changed"}`)),
    sent('PUT', `${maps}/a?fieldValidation=Strict`, map('a', `{${key}:"1",${key}:"2"}`)),
    sent('PATCH', `${maps}/a`, `[{"op":"add","path":"/data/${name}","value":"added"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"test","path":"/data/${name}","value":"added"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"copy","from":"/data/${name}","path":"/data/copy"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"replace","path":"/data/${name}","value":"replaced"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"move","from":"/data/${name}","path":"/data/moved"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"remove","path":"/data/${name}"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"test","path":"/data/${name}","value":null}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":${key},"path":"/data/x","value":"y"}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"add","path":"/${name}","value":{"x":"y"}}]`, JSON_PATCH),
    sent('PATCH', `${maps}/a`, `[{"op":"add","path":"/${name}/x","value":"y"}]`, JSON_PATCH),
    ...[MERGE_PATCH, STRATEGIC_PATCH].flatMap((type) => [
      sent('PATCH', `${maps}/a`, `{"data":{${key}:"merged","other":"1"}}`, type),
      sent('PATCH', `${maps}/a`, `{"data":{${key}:"merged again"}}`, type),
      sent('PATCH', `${maps}/a`, `{"data":{${key}:null}}`, type),
      sent('PATCH', `${maps}/a`, `{"data":{${key}:{"x":"y"}}}`, type),
      sent('PATCH', `${maps}/a`, `{${key}:{"x":"y"}}`, type),
      sent('PATCH', `${maps}/a`, `{"metadata":{"annotations":{${key}:"x"}}}`, type),
      sent('PATCH', `${maps}/a`, `{"metadata":{"annotations":{${key}:null}}}`, type),
    ]),
    sent('PATCH', `${maps}/a`, `{"$retainKeys":[${key}],"data":{${key}:"1"}}`, STRATEGIC_PATCH),
    apply('first', `{${key}:"1","a":"2"}`),
    apply('second', `{${key}:"other"}`),
    apply('second', `{${key}:"1"}`),
    apply('first', `{"a":"2"}`),
    apply('second', `{"b":"2"}`),
    // The test does not sort YAML: managers of one second are in the order of their names.
    apply(`the-last-${name}`, `{${key}:"1"}`, '&force=true'),
    apply(`the-last-${name}`, `{}`),
    ...inEveryForm(`${maps}/applied`),
    sent('POST', maps, `metadata:\n  name: b\ndata:\n  ${key}: "1"\n  a: "2"\n`, 'application/yaml'),
    sent(
      'POST',
      maps,
      new Encoder().object({ metadata: { name: 'c' } }, [
        'data',
        [
          [name, '1'],
          ['a', '2'],
        ],
      ]),
      'application/cbor',
    ),
    ...['b', 'c'].flatMap((meta) => inEveryForm(`${maps}/${meta}`)),
    sent('POST', maps, `{"metadata":{"name":"d"},"binaryData":{${key}:"eA=="},"data":{"x":"y"}}`),
    sent('POST', maps, `{"metadata":{"name":"e"},"binaryData":{${key}:"eA=="},"data":{${key}:"y"}}`),
    sent('POST', `${maps}?fieldValidation=Strict`, `{"metadata":{"name":"f"},${key}:{"x":"y"}}`),
    sent('POST', `${maps}?fieldValidation=Strict`, `{"metadata":{"name":"f",${key}:{"x":"y"}}}`),
    sent('POST', maps, `{"metadata":{"name":"f",${key}:{"x":"y"}},${key}:"x"}`),
    sent('POST', secrets, `{"metadata":{"name":"a"},"stringData":{${key}:"1"},"data":{"a":"eA=="}}`),
    sent('POST', secrets, `{"metadata":{"name":"b"},"type":${key}}`),
    sent('POST', secrets, `{"metadata":{"name":"c"},"type":"kubernetes.io/tls","data":{${key}:"eA=="}}`),
    get(maps, { Accept: TABLE }),
  ]
}

/** Labels, selectors, and every other place in built-in objects for a client's names. */
export function objects(namespace: string, name: string): Step[] {
  const key = JSON.stringify(name)
  const of = (resource: string, group = '/api/v1') => `${group}/namespaces/${namespace}/${resource}`
  const meta = (more = '') => `"metadata":{"name":"labelled"${more}}`
  const template = `{"metadata":{"labels":{${key}:"x"}},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":${key},"value":"x"}],"resources":{"limits":{${key}:"1"},"requests":{"cpu":"1"}}}],"nodeSelector":{${key}:"x"},"volumes":[{"name":"v","configMap":{"name":"m","items":[{"key":${key},"path":"p"}]}}]}}`
  const limits = `{"limits":[{"type":"Container","default":{${key}:"1","cpu":"2"},"defaultRequest":{${key}:"1"},"max":{${key}:"3"}},{"type":${key},"max":{"cpu":"1"}}]}`
  return [
    sent('POST', of('configmaps'), `{${meta(`,"labels":{${key}:"x"}`)}}`),
    sent('POST', of('configmaps'), `{"metadata":{"name":"annotated","annotations":{${key}:"x"}}}`),
    sent('PATCH', `${of('configmaps')}/labelled`, `{"metadata":{"labels":{${key}:"y"}}}`, STRATEGIC_PATCH),
    ...[name, `${name}=y`, `${name}!=y`, `!${name}`, `${name} in (y)`, `${name} notin (y)`, `a=${name}`].flatMap(
      (selector) => [
        get(`${of('configmaps')}?labelSelector=${encodeURIComponent(selector)}`),
        get(`${of('configmaps')}?labelSelector=${encodeURIComponent(selector)}`, { Accept: TABLE }),
      ],
    ),
    ...[`${name}=y`, `metadata.${name}=y`, `metadata.name=${name}`].map((selector) =>
      get(`${of('configmaps')}?fieldSelector=${encodeURIComponent(selector)}`),
    ),
    sent('POST', of('pods'), `{${meta()},"spec":${template.slice(template.indexOf('"spec":') + 7, -1)}}`),
    sent(
      'POST',
      of('deployments', '/apis/apps/v1'),
      `{${meta()},"spec":{"selector":{"matchLabels":{${key}:"x"}},"template":${template}}}`,
    ),
    sent(
      'POST',
      of('deployments', '/apis/apps/v1'),
      `{${meta()},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":${template}}}`,
    ),
    sent(
      'POST',
      of('deployments', '/apis/apps/v1'),
      `{${meta()},"spec":{"strategy":{"type":${key}},"selector":{"matchExpressions":[{"key":${key},"operator":${key}}]},"template":${template}}}`,
    ),
    sent(
      'POST',
      of('services'),
      `{${meta()},"spec":{"selector":{${key}:"x"},"type":${key},"ports":[{"port":1,"name":${key}}]}}`,
    ),
    sent(
      'POST',
      of('services'),
      `{"metadata":{"name":"selecting"},"spec":{"clusterIP":"None","selector":{${key}:"x"}}}`,
    ),
    ...inEveryForm(`${of('services')}/selecting`),
    sent('POST', of('resourcequotas'), `{${meta()},"spec":{"hard":{${key}:"1","pods":"2"},"scopes":[${key}]}}`),
    sent('POST', of('resourcequotas'), `{"metadata":{"name":"counted"},"spec":{"hard":{"count/${name}":"1"}}}`),
    // A controller counts the quota if the name is a valid one.
    { ...get(of('resourcequotas'), { Accept: TABLE }), until: /^\w.*[^_]$/.test(name) ? '0/1' : '' },
    sent('POST', of('limitranges'), `{${meta()},"spec":${limits}}`),
    sent(
      'POST',
      of('limitranges'),
      `{"metadata":{"name":"extended"},"spec":${limits.replaceAll(key, JSON.stringify(`example.com/${name}`))}}`,
    ),
    sent('POST', of('pods'), `{"metadata":{"name":"limited"},"spec":{"containers":[{"name":"c","image":"i"}]}}`),
    sent('DELETE', `${of('limitranges')}/extended`, ''),
    sent(
      'POST',
      of('roles', '/apis/rbac.authorization.k8s.io/v1'),
      `{${meta()},"rules":[{"apiGroups":[${key}],"resources":[${key}],"verbs":[${key}],"resourceNames":[${key}]}]}`,
    ),
    sent(
      'POST',
      of('rolebindings', '/apis/rbac.authorization.k8s.io/v1'),
      `{${meta()},"roleRef":{"kind":${key},"name":"labelled","apiGroup":${key}},"subjects":[{"kind":${key},"name":${key}}]}`,
    ),
    sent(
      'POST',
      of('persistentvolumeclaims'),
      `{${meta()},"spec":{"accessModes":[${key}],"resources":{"requests":{${key}:"1"}}}}`,
    ),
    sent('POST', of('jobs', '/apis/batch/v1'), `{${meta()},"spec":{"completionMode":${key},"template":${template}}}`),
    sent(
      'POST',
      of('events'),
      `{${meta()},"involvedObject":{"kind":${key},"namespace":"${namespace}","name":${key}},"type":${key}}`,
    ),
    sent(
      'POST',
      of('leases', '/apis/coordination.k8s.io/v1'),
      `{${meta()},"spec":{"strategy":${key},"holderIdentity":${key}}}`,
    ),
    sent(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      `{"spec":{"user":${key},"groups":[${key}],"extra":{${key}:["x"]},"resourceAttributes":{"group":${key},"resource":${key},"verb":${key},"name":${key},"subresource":${key}}}}`,
    ),
    sent(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      `{"spec":{"nonResourceAttributes":{"path":"/${name}","verb":${key}}}}`,
    ),
    sent('POST', '/apis/authentication.k8s.io/v1/tokenreviews', `{"spec":{"token":${key},"audiences":[${key}]}}`),
    sent(
      'POST',
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      `{"metadata":{"name":"x"},"spec":{"request":"eA==","signerName":"a.b/${name}","usages":[${key}]}}`,
    ),
    sent(
      'POST',
      '/apis/storage.k8s.io/v1/storageclasses?dryRun=All',
      `{"metadata":{"name":"x"},"provisioner":"a.b/c","parameters":{${key}:"x"},"volumeBindingMode":${key}}`,
    ),
    sent(
      'POST',
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?dryRun=All',
      `{"metadata":{"name":"x"},"webhooks":[{"name":"a.b.c","clientConfig":{"url":"https://a"},"sideEffects":${key},"admissionReviewVersions":[${key}],"rules":[{"apiGroups":[${key}],"apiVersions":["v1"],"resources":[${key}],"operations":[${key}]}]}]}`,
    ),
  ]
}

/** Parts of the request itself: paths, query, headers. */
export function requests(namespace: string, name: string): Step[] {
  const key = JSON.stringify(name)
  const maps = `/api/v1/namespaces/${namespace}/configmaps`
  const paths = [
    `/${name}`, `/api/${name}`, `/apis/${name}`, `/apis/${name}/v1`, `/apis/${name}/${name}`, `/apis/${name}/v1/${name}`,
    `/apis/${name}/v1/namespaces/${namespace}/${name}/${name}`, `/apis/apps/${name}`, `/apis/apps/v1/${name}`,
    `/api/v1/${name}`, `/api/v1/${name}/${name}`, `/api/v1/namespaces/${name}`, `/api/v1/namespaces/${name}/${name}`,
    `/api/v1/namespaces/${name}/configmaps`, `/api/v1/namespaces/${name}/configmaps/${name}`, `${maps}/${name}`,
    `${maps}/a/${name}`, `/api/v1/namespaces/${namespace}/${name}`, `/api/v1/namespaces/${namespace}/pods/labelled/${name}`,
    `/api/v1/watch/${name}`, `/api/v1/watch/namespaces/${name}/${name}`, `/openapi/v3/${name}`, `/openapi/v3/apis/${name}/v1`,
    `/openapi/${name}`, `/healthz/${name}`, `/livez/${name}`, `/readyz?exclude=${name}`, `/metrics/${name}`, `/debug/${name}`,
    `/.well-known/${name}`, `/api/v1/componentstatuses/${name}`, `/version/${name}`, `/apis/apps/v1/deployments/${name}`,
    `${maps}?${name}=1`, `${maps}?limit=${name}`, `${maps}?continue=${name}`, `${maps}?resourceVersion=${name}`,
    `${maps}?resourceVersionMatch=${name}&resourceVersion=1`, `${maps}?timeoutSeconds=${name}`, `${maps}?pretty=${name}`,
    `${maps}?timeout=${name}`, `${maps}/a?${name}=${name}`, `${maps}?includeObject=${name}`,
  ] // prettier-ignore
  const headers: readonly Readonly<Record<string, string>>[] = [
    { Accept: name }, { Accept: `application/${name}` }, { Accept: `${name}/json` }, { Accept: `application/json;as=${name}` },
    { Accept: `application/json;as=Table;g=${name};v=v1` }, { Accept: `application/json;${name}=${name}` },
    { 'Accept-Encoding': name }, { [name]: 'x' }, { Authorization: `${name} x` }, { Authorization: `Bearer ${name}` },
    { 'X-Remote-User': name },
  ] // prettier-ignore
  const review = (impersonated: Readonly<Record<string, string>>): Step => ({
    ...sent('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', '{}'),
    headers: { 'Content-Type': 'application/json', ...impersonated },
  })
  return [
    ...paths.flatMap((path) => [get(path), sent('POST', path, '{}')]),
    ...headers.map((one) => get(`${maps}/a`, one)),
    review({ 'Impersonate-User': name }),
    review({ 'Impersonate-User': 'x', 'Impersonate-Group': name, 'Impersonate-Uid': name }),
    review({ 'Impersonate-User': 'x', [`Impersonate-Extra-${name}`]: name }),
    review({ [`Impersonate-Extra-${name}`]: name }),
    ...['fieldManager', 'fieldValidation', 'dryRun', name].map((parameter) =>
      sent('PUT', `${maps}/a?${parameter}=${name}`, `{"metadata":{"name":"a"},"data":{"x":"y"}}`),
    ),
    ...['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'dryRun'].map((parameter) =>
      sent('DELETE', `${maps}/nothing?${parameter}=${name}`, ''),
    ),
    sent('DELETE', `${maps}/nothing`, `{"propagationPolicy":${key},"dryRun":[${key}],${key}:{"x":"y"}}`),
    ...[name, `application/${name}`, `application/${name}-patch+json`, `application/json;${name}=1`].flatMap((type) => [
      sent('POST', maps, '{}', type),
      sent('PATCH', `${maps}/a`, '{}', type),
    ]),
    sent('POST', maps, `{"kind":${key},"apiVersion":"v1","metadata":{"name":"k"}}`),
    sent('POST', maps, `{"kind":"ConfigMap","apiVersion":${key},"metadata":{"name":"k"}}`),
    sent('POST', maps, `{"kind":${key},"apiVersion":"${name}/${name}","metadata":{"name":"k"}}`),
    sent('POST', maps, `{"metadata":{"name":${key}}}`),
    sent('POST', maps, `{"metadata":{"generateName":${key},"finalizers":["a.b/${name}"]},"immutable":${key}}`),
    sent(
      'POST',
      maps,
      `{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"${name}/v1","kind":${key},"name":${key},"uid":"u"}]}}`,
    ),
    sent('POST', '/api/v1/namespaces?dryRun=All', `{"metadata":{"name":${key}}}`),
    sent('DELETE', `${maps}/${name}`, ''),
  ]
}

export const GROUP = '/apis/prototype.example.com/v1'

/** An ordinary name with the same length, the same kind of characters and the same place in a sorted list. */
export const ordinaryFor = (name: string): string => name.replace(/[a-z](?=[^a-z]*$)/, 'q')

const propertyNames: readonly string[] = prototypeNames.flatMap((name) => [name, ordinaryFor(name)])

/** A definition whose objects have properties of all these names. */
export function definition(): string {
  const names = propertyNames
  const properties = (of: (name: string) => string) =>
    names.map((name) => `${JSON.stringify(name)}:${of(name)}`).join(',')
  const closed = `{"type":"object","properties":{${properties(() => '{"type":"string"}')}}}`
  const defaulted = `{"type":"object","properties":{${properties((name) => `{"type":"string","default":${JSON.stringify(`d-${name}`)}}`)}}}`
  const keyed = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},${properties(() => '{"type":"object","x-kubernetes-preserve-unknown-fields":true}')}}}}`
  const all = `{"type":"object","properties":{"spec":${closed},"defaulted":${defaulted},"list":${keyed},"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"map":{"type":"object","additionalProperties":{"type":"integer","maximum":9}},"required":{"type":"object","required":[${names.map((name) => JSON.stringify(name)).join(',')}],"properties":{${properties(() => '{"type":"integer"}')}}}}}`
  return `{"metadata":{"name":"widgets.prototype.example.com"},"spec":{"group":"prototype.example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${all}},"subresources":{"status":{}}}]}}`
}

/** Objects of that definition. */
export function customObjects(namespace: string, name: string): Step[] {
  const key = JSON.stringify(name)
  const widgets = `${GROUP}/namespaces/${namespace}/widgets`
  const others = propertyNames.flatMap((one) => (one === name ? [] : `${JSON.stringify(one)}:1`)).join(',')
  const head = (meta: string) => `"apiVersion":"prototype.example.com/v1","kind":"Widget","metadata":{"name":"${meta}"}`
  const apply = (manager: string, rest: string, more = '') =>
    sent('PATCH', `${widgets}/applied?fieldManager=${manager}${more}`, `{${head('applied')},${rest}}`, APPLY)
  return [
    sent('POST', widgets, `{${head('a')},"spec":{${key}:"x"},"open":{${key}:{${key}:[1]}},"map":{${key}:1}}`),
    ...inEveryForm(`${widgets}/a`),
    sent('POST', widgets, `{${head('b')},"spec":{${key}:5}}`),
    sent('POST', widgets, `{${head('c')},"map":{${key}:10}}`),
    sent('POST', widgets, `{${head('d')},"required":{${others}}}`),
    sent('POST', widgets, `{${head('e')},"defaulted":{},"list":[{"k":"a",${key}:{${key}:1}}]}`),
    sent('POST', widgets, `{${head('f')},"defaulted":{${key}:null}}`),
    sent('POST', `${widgets}?fieldValidation=Strict`, `{${head('g')},${key}:{"x":1},"list":[{"k":"a","x":{}}]}`),
    sent('POST', widgets, `{${head('h')},${key}:{"x":1},"spec":{${key}:{"x":1}}}`),
    sent(
      'POST',
      widgets,
      `apiVersion: prototype.example.com/v1\nkind: Widget\nmetadata:\n  name: i\nopen:\n  ${key}:\n    ${key}: 1\n`,
      'application/yaml',
    ),
    ...['e', 'i'].flatMap((meta) => inEveryForm(`${widgets}/${meta}`)),
    sent('PATCH', `${widgets}/a`, `{"spec":{${key}:"merged"},"open":{${key}:null,"o":{${key}:1}}}`, MERGE_PATCH),
    sent('PATCH', `${widgets}/a`, `{"spec":{${key}:null}}`, MERGE_PATCH),
    sent(
      'PATCH',
      `${widgets}/a`,
      `[{"op":"add","path":"/spec/${name}","value":"y"},{"op":"add","path":"/open/${name}","value":{${key}:2}}]`,
      JSON_PATCH,
    ),
    sent('PATCH', `${widgets}/a`, `[{"op":"remove","path":"/open/${name}/${name}"}]`, JSON_PATCH),
    sent('PATCH', `${widgets}/a`, `[{"op":"add","path":"/map/${name}","value":10}]`, JSON_PATCH),
    sent('PATCH', `${widgets}/a/status`, `{"status":{${key}:"x"}}`, MERGE_PATCH),
    apply('first', `"spec":{${key}:"x"},"open":{${key}:{${key}:1}},"list":[{"k":"a",${key}:{"x":1}}]`),
    apply('second', `"spec":{${key}:"y"}`),
    apply('second', `"spec":{${key}:"y"}`, '&force=true'),
    apply('first', `"open":{"x":1},"list":[{"k":"a"}]`),
    apply('second', `"map":{"x":1}`),
    get(`${widgets}?labelSelector=${encodeURIComponent(name)}`),
    get(`${widgets}?fieldSelector=${encodeURIComponent(`spec.${name}=x`)}`),
    get(widgets, { Accept: TABLE }),
  ]
}

/** A definition with this name, and its objects. */
export function definitions(namespace: string, name: string): Step[] {
  const key = JSON.stringify(name)
  const group = `${name}.example.com`
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const crd = `{"metadata":{"name":"${name}.${group}"},"spec":{"group":"${group}","scope":"Namespaced","names":{"plural":${key},"singular":${key},"kind":${key},"listKind":"${name}List","shortNames":[${key}],"categories":[${key}]},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},${key}:{"type":"integer"}}}},"subresources":{"status":{},"scale":{"specReplicasPath":".spec.${name}","statusReplicasPath":".status.${name}"}},"additionalPrinterColumns":[{"name":${key},"type":"string","jsonPath":".spec.${name}"}],"selectableFields":[{"jsonPath":".${name}"}]}]}}`
  return [
    sent('POST', `${path}?fieldManager=definer`, crd),
    { ...get(`${path}/${name}.${group}`), until: '"reason":"InitialNamesAccepted"' },
    get(`/apis/${group}/v1/namespaces/${namespace}/${name}/${name}`),
  ]
}
