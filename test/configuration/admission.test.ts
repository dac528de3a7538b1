// The error texts are those of kube-apiserver 1.36.3.
import { describe, expect, test } from 'vitest'
import { pluginNames, pluginsThatRun } from '../../src/configuration/admission-plugins.ts'
import { admissionSetting, readAdmissionConfiguration } from '../../src/configuration/admission.ts'
import { credentialsFor, readKubeconfig } from '../../src/configuration/kubeconfig.ts'

const messageOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}

describe('plugins', () => {
  test.each<[enable: string | undefined, disable: string | undefined, problem: string]>([
    [
      'Foo,Bar',
      'Baz',
      '[enable-admission-plugins plugin "Foo" is unknown, enable-admission-plugins plugin "Bar" is unknown, disable-admission-plugins plugin "Baz" is unknown]',
    ],
    ['toString', undefined, 'enable-admission-plugins plugin "toString" is unknown'],
    [
      'NodeRestriction,AlwaysPullImages',
      'AlwaysPullImages,NodeRestriction',
      '[AlwaysPullImages NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped',
    ],
    ['AlwaysPullImages,', '', ''],
  ])('enabled %s, disabled %s', (enable, disable, problem) => {
    expect(messageOf(() => pluginsThatRun({ enable, disable }))).toBe(problem)
  })

  test('those of the lists come and go, in the order of kube-apiserver', () => {
    const running = [...pluginsThatRun({ enable: 'PodNodeSelector,AlwaysPullImages', disable: 'ServiceAccount' })]
    expect(running).toEqual(pluginNames.filter((name) => running.includes(name)))
    expect(running).toEqual(expect.arrayContaining(['PodNodeSelector', 'AlwaysPullImages', 'LimitRanger']))
    expect(running).not.toContain('ServiceAccount')
    expect(running).not.toContain('AlwaysDeny')
  })
})

const configured = (name: string, configuration: unknown) =>
  readAdmissionConfiguration(
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name, configuration }],
    }),
  )

const LABEL_KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

test.each(['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'])('%s reads no policies from files', (name) => {
  const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: `${name}Configuration` }
  const problemOf = (configuration: object) => messageOf(() => admissionSetting({}, configured(name, configuration)))
  expect(problemOf(type)).toBe('')
  expect(problemOf({ ...type, staticManifestsDir: '/policies' })).toBe(
    `couldn't init admission plugin "${name}": strict decoding error: unknown field "staticManifestsDir"`,
  )
  expect(problemOf({ ...type, kind: 'WebhookAdmissionConfiguration' })).toContain(
    'no kind "WebhookAdmissionConfiguration"',
  )
})

describe('configurations that cannot be used', () => {
  const events = { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration' }
  const security = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' }
  const quota = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'ResourceQuotaConfiguration' }
  const tolerations = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' }

  test.each<[name: string, configuration: object | undefined, problem: string]>([
    [
      'EventRateLimit',
      { ...events, limits: [{ type: 'Nope', qps: 0, burst: -1, cacheSize: -2 }] },
      '[limits[0].type: Unsupported value: "Nope": supported values: "Server", "Namespace", "User", "SourceAndObject", limits[0].burst: Invalid value: -1: must be positive, limits[0].qps: Invalid value: 0: must be positive, limits[0].cacheSize: Invalid value: -2: must not be negative]',
    ],
    ['EventRateLimit', events, 'limits: Invalid value: null: must not be empty'],
    ['EventRateLimit', undefined, 'limits: Invalid value: null: must not be empty'],
    [
      'EventRateLimit',
      { ...events, apiVersion: 'eventratelimit.admission.k8s.io/v2' },
      'no kind "Configuration" is registered for version "eventratelimit.admission.k8s.io/v2"',
    ],
    [
      'PodSecurity',
      { ...security, defaults: { enforce: 'nope', 'enforce-version': 'v9', 'audit-version': 'bad' } },
      'PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, enforce-version: must be "latest" or "v1.x", audit-version: must be "latest" or "v1.x"]',
    ],
    ['PodSecurity', { ...security, default: {} }, 'strict decoding error: unknown field "default"'],
    [
      'PodSecurity',
      { ...security, exemptions: { usernames: ['', 'a', 'a'], namespaces: [], runtimeClasses: [] } },
      '[exemptions.usernames[0]: Invalid value: "": username must not be empty, exemptions.usernames[2]: Duplicate value: "a"]',
    ],
    [
      'ResourceQuota',
      { ...quota, limitedResources: [{ apiGroup: 'apps' }] },
      'limitedResources[0].resource: Required value',
    ],
    [
      'PodTolerationRestriction',
      { ...tolerations, default: [{ key: 'a b', operator: 'Nope' }], whitelist: [{ operator: 'Equal' }] },
      `invalid config: [podtolerationrestriction.default[0].key: Invalid value: "a b": ${LABEL_KEY} podtolerationrestriction.default[0].operator: Unsupported value: "Nope": supported values: "Equal", "Exists" podtolerationrestriction.whitelist[0].operator: Invalid value: "Equal": operator must be Exists when \`key\` is empty, which means "match all values and all keys"]`,
    ],
    ['ImagePolicyWebhook', undefined, 'no config specified'],
    [
      'ImagePolicyWebhook',
      { imagePolicy: { allowTTL: 100_000 } },
      'valid value is between 1s and 30m0s, got 27h46m40s',
    ],
  ])('%s %j', (name, configuration, problem) => {
    const lists = { enable: 'EventRateLimit,PodTolerationRestriction,ImagePolicyWebhook' }
    const on = { enable: lists.enable.split(',').includes(name) ? name : undefined }
    expect(messageOf(() => admissionSetting(on, configured(name, configuration)))).toBe(
      `couldn't init admission plugin "${name}": ${problem}`,
    )
  })

  test('of a plugin that does not run are not looked at', () => {
    expect(messageOf(() => admissionSetting({}, configured('EventRateLimit', { limits: [] })))).toBe('')
  })

  test.each(['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1'])('are read in %s', (apiVersion) => {
    const plugins = [{ name: 'EventRateLimit', configuration: { limits: [] } }]
    const json = JSON.stringify({ apiVersion, kind: 'AdmissionConfiguration', plugins })
    expect(readAdmissionConfiguration(json)).toEqual(new Map([['EventRateLimit', { limits: [] }]]))
  })

  test.each([
    [
      '{"apiVersion":"apiserver.k8s.io/v1","kind":"AdmissionConfiguration"}',
      'no kind "AdmissionConfiguration" is registered for version "apiserver.k8s.io/v1"',
    ],
    [
      '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AdmissionConfiguration","plugin":[]}',
      'strict decoding error: unknown field "plugin"',
    ],
    [
      '{"apiVersion":"apiserver.config.k8s.io/v2","kind":"AdmissionConfiguration"}',
      'no kind "AdmissionConfiguration" is registered for version "apiserver.config.k8s.io/v2"',
    ],
    ['{"a":"b"}', "Object 'Kind' is missing"],
    ['{"password":"hunter2"', 'it is not JSON'],
  ])('%s', (json, problem) => {
    expect(messageOf(() => readAdmissionConfiguration(json))).toBe(`failed to read plugin config: ${problem}`)
  })
})

describe('who calls a webhook', () => {
  const users = ['a.ns.svc', '*.ns.svc', 'b.ns.svc:8443', '*.example.com', 'exact.example.com:443', '*']
  const kubeconfig = readKubeconfig({
    users: [...users, 'current'].map((name) => ({ name, user: { token: name } })),
    contexts: [{ name: 'c', context: { cluster: 'x', user: 'current' } }],
    'current-context': 'c',
  })

  test.each([
    ['a.ns.svc:443', 'a.ns.svc'],
    ['a.ns.svc:8443', '*'],
    ['b.ns.svc:443', '*.ns.svc'],
    ['b.ns.svc:8443', 'b.ns.svc:8443'],
    ['exact.example.com:443', 'exact.example.com:443'],
    ['a.b.example.com:443', '*.example.com'],
    ['elsewhere:443', '*'],
  ])('%s', (target, user) => {
    expect(credentialsFor(kubeconfig, target)?.authorization).toBe(`Bearer ${user}`)
  })

  test('the user of the current context, where no name fits', () => {
    const { users: all, current } = kubeconfig
    const withoutStar = { users: new Map([...all].filter(([name]) => name !== '*')), current }
    expect(credentialsFor(withoutStar, 'elsewhere:443')?.authorization).toBe('Bearer current')
    expect(credentialsFor({ users: withoutStar.users, current: undefined }, 'elsewhere:443')).toBeUndefined()
  })

  test('a certificate needs its key', () => {
    const user = { 'client-certificate-data': btoa('-----BEGIN CERTIFICATE-----') }
    expect(messageOf(() => readKubeconfig({ users: [{ name: 'a', user }] }))).toBe(
      'the user a needs client-certificate-data and client-key-data together',
    )
    expect(messageOf(() => readKubeconfig({ users: [{ name: 'a', user: { 'client-key-data': 'secret' } }] }))).toBe(
      'users[0].user.client-key-data: must be base64 of PEM',
    )
  })
})
