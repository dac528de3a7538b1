// kube-apiserver 1.36.3 gave these answers.
import { expect, test } from 'vitest'
import { lineOf, pluginServer, pod } from '../plugin-server.ts'

const selectors = { clusterDefaultNodeSelector: 'disk=ssd', walled: 'zone=a,disk=ssd,gpu=yes' }
const { send, namespace } = pluginServer(
  { KEDGE_ENABLE_ADMISSION_PLUGINS: 'PodNodeSelector' },
  { PodNodeSelector: { podNodeSelectorPluginConfig: selectors } },
)

const CONFLICT = 'pod node label selector conflicts with its namespace node label selector'
const NOT_ALLOWED = 'pod node label selector labels conflict with its namespace whitelist'
const NAME =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** Namespaces by name: their annotation. */
const annotations: Record<string, string | undefined> = {
  plain: undefined,
  walled: undefined,
  annotated: 'region=eu',
  spaced: ' a = b , c=d ',
  empty: '',
  'set-based': 'a in (b)',
  'two-signs': 'a=b=c',
  'no-sign': 'a',
  'bad-key': 'a=b,-x=1',
  'bad-value': 'a=b c',
}

test.each<[namespace: string, own: object | undefined, expected: object | string]>([
  ['plain', undefined, { disk: 'ssd' }],
  ['plain', { own: 'x' }, { disk: 'ssd', own: 'x' }],
  ['plain', { disk: 'hdd' }, `403 pods "p" is forbidden: ${CONFLICT}`],
  ['walled', undefined, { disk: 'ssd' }],
  ['walled', { gpu: 'yes' }, { disk: 'ssd', gpu: 'yes' }],
  ['walled', { gpu: 'no' }, `403 pods "p" is forbidden: ${NOT_ALLOWED}`],
  ['walled', { own: 'x' }, `403 pods "p" is forbidden: ${NOT_ALLOWED}`],
  ['annotated', undefined, { region: 'eu' }],
  ['spaced', undefined, { a: 'b', c: 'd' }],
  ['empty', undefined, {}],
  ['set-based', undefined, '500 invalid selector: [a in (b)]'],
  ['two-signs', undefined, '500 invalid selector: [a b c]'],
  ['no-sign', undefined, '500 invalid selector: [a]'],
  ['bad-key', undefined, `500 <nil>: Invalid value: "-x": name part ${NAME}`],
  ['bad-value', undefined, `500 [a]: Invalid value: "b c": ${VALUE}`],
])('in %s with %j', async (name, nodeSelector, expected) => {
  const annotation = annotations[name]
  await namespace(name, annotation === undefined ? {} : { 'scheduler.alpha.kubernetes.io/node-selector': annotation })
  const answer = await send('POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, pod({ nodeSelector }))
  if (typeof expected === 'string') expect(lineOf(answer)).toBe(expected)
  else expect(answer.body.spec['nodeSelector'] ?? {}).toEqual(expected)
})

test('a pod without a name yet is refused without one', async () => {
  await namespace('plain')
  const wanted = pod({ nodeSelector: { disk: 'hdd' } }, { name: undefined, generateName: 'g-' })
  expect(lineOf(await send('POST', '/api/v1/namespaces/plain/pods', wanted))).toBe(`403 pods is forbidden: ${CONFLICT}`)
})
