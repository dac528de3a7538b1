// kube-apiserver 1.36.3 gave these answers.
import { expect, test } from 'vitest'
import { lineOf, pluginServer, pod } from '../plugin-server.ts'

const exists = (key: string) => ({ key, operator: 'Exists' })
const listed = ['dedicated', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const { send, namespace } = pluginServer(
  { KEDGE_ENABLE_ADMISSION_PLUGINS: 'PodTolerationRestriction' },
  {
    PodTolerationRestriction: {
      apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
      default: [{ key: 'dedicated', operator: 'Equal', value: 'team', effect: 'NoSchedule' }],
      whitelist: [...listed, 'node.kubernetes.io/memory-pressure'].map(exists),
    },
  },
)

const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const WHITELIST = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'
const refused = (scope: string) =>
  `500 pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`

const annotations: Record<string, Record<string, string>> = {
  plain: {},
  own: {
    [DEFAULTS]: '[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]',
    [WHITELIST]: '[{"key":"k","operator":"Exists"}]',
  },
  open: { [DEFAULTS]: '', [WHITELIST]: '' },
  object: { [DEFAULTS]: '{"a":1}' },
  number: { [DEFAULTS]: '[{"key":1}]' },
  text: { [DEFAULTS]: 'nonsense' },
  short: { [WHITELIST]: '[1' },
  'other-field': { [DEFAULTS]: '[{"key":"x","nosuch":1,"operator":"Exists"}]' },
  'other-case': { [DEFAULTS]: '[{"KEY":"dedicated","Operator":"Exists"}]' },
  'all-but-exists': { [DEFAULTS]: '', [WHITELIST]: '[{"operator":"Equal"}]' },
}

const usual = ['node.kubernetes.io/not-ready:NoExecute', 'node.kubernetes.io/unreachable:NoExecute']
const requests = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] }

test.each<[namespace: string, spec: object, expected: string[] | string]>([
  ['plain', {}, [...usual, 'dedicated:NoSchedule']],
  ['plain', requests, [...usual, 'dedicated:NoSchedule', 'node.kubernetes.io/memory-pressure:NoSchedule']],
  ['plain', { tolerations: [exists('other')] }, refused('cluster')],
  ['plain', { tolerations: [{ operator: 'Exists' }] }, refused('cluster')],
  ['own', {}, refused('namespace')],
  ['open', {}, usual],
  ['open', { tolerations: [{ operator: 'Exists' }] }, [':']],
  ['object', {}, '500 json: cannot unmarshal object into Go value of type []v1.Toleration'],
  ['number', {}, '500 json: cannot unmarshal number into Go struct field Toleration.key of type string'],
  ['text', {}, "500 invalid character 'o' in literal null (expecting 'u')"],
  ['short', {}, '500 unexpected end of JSON input'],
  ['other-field', {}, refused('cluster')],
  ['other-case', {}, [...usual, 'dedicated:']],
  // an empty key stands for all only with Exists
  ['all-but-exists', {}, refused('namespace')],
])('in %s: %j', async (name, spec, expected) => {
  await namespace(name, annotations[name])
  const answer = await send('POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, pod(spec))
  if (typeof expected === 'string') expect(lineOf(answer)).toBe(expected)
  else {
    const tolerations = answer.body.spec['tolerations'] as { key?: string; effect?: string }[]
    expect(tolerations.map(({ key = '', effect = '' }) => `${key}:${effect}`)).toEqual(expected)
  }
})
