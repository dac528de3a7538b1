import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readAdmissionConfig } from '../../../src/cli/flags/admission.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-admission-'))
afterAll(() => rmSync(directory, { recursive: true }))

const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}
// the function writes JSON
const read = (name: string, text: string): unknown => JSON.parse(readAdmissionConfig(file(name, text)))

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('the files that the configuration names are inlined', () => {
  file('selectors.yaml', 'podNodeSelectorPluginConfig: {blue: a=b}')
  const config = read('relative.yaml', `${HEAD}- {name: PodNodeSelector, path: selectors.yaml}\n`)
  expect(config).toMatchObject({
    plugins: [{ name: 'PodNodeSelector', configuration: { podNodeSelectorPluginConfig: { blue: 'a=b' } } }],
  })
  expect(JSON.stringify(config)).not.toContain('path')
})

test('a kubeconfig is inlined with its certificates, keys and tokens', () => {
  for (const name of ['client.crt', 'client.key', 'ca.crt', 'token']) file(name, name)
  const kubeconfig = file(
    'kubeconfig.yaml',
    `clusters: [{name: c, cluster: {server: https://images.example, certificate-authority: ca.crt}}]
users:
- {name: '*.svc', user: {client-certificate: client.crt, client-key: client.key}}
- {name: '*', user: {tokenFile: token}}
`,
  )
  const clients = `- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: ${kubeconfig}}
`
  const inlined = {
    clusters: [{ cluster: { server: 'https://images.example', 'certificate-authority-data': base64('ca.crt') } }],
    users: [
      { user: { 'client-certificate-data': base64('client.crt'), 'client-key-data': base64('client.key') } },
      { user: { token: 'token' } },
    ],
  }
  expect(read('webhooks.yaml', HEAD + clients)).toMatchObject({ plugins: [{ configuration: { kubeConfig: inlined } }] })
  // kube-apiserver also accepts this file directly
  expect(read('legacy.yaml', `imagePolicy: {kubeConfigFile: ${kubeconfig}, allowTTL: 50}`)).toMatchObject({
    kind: 'AdmissionConfiguration',
    plugins: [{ name: 'ImagePolicyWebhook', configuration: { imagePolicy: { allowTTL: 50, kubeConfig: inlined } } }],
  })
})

test.each([
  ['kubeConfigFile: rel/path', 'kubeConfigFile: Invalid value: "rel/path": must be an absolute file path'],
  ['kubeConfigFile: /nope/file', /^\/nope\/file cannot be read: ENOENT/],
])('%s', (field, problem) => {
  const configuration = `{kind: WebhookAdmissionConfiguration, ${field}}`
  expect(() => read('bad.yaml', `${HEAD}- {name: MutatingAdmissionWebhook, configuration: ${configuration}}`)).toThrow(
    problem,
  )
})

test('a missing file is refused', () => {
  expect(() => readAdmissionConfig('/nope')).toThrow(
    /^unable to read admission control configuration from "\/nope": ENOENT/,
  )
})
