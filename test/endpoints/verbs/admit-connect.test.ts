/** The variables that admission policies see for a CONNECT. */
import { describe, expect, test } from 'vitest'
import { admitConnect } from '../../../src/endpoints/verbs/admit-connect.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import { builtInServed } from '../../../src/registry/served/built-in-served.ts'
import { CONFIG_MAPS, policyServer } from '../../admission/policies/policy-server.ts'

async function said(resource: string, subresource: string, query: string, expression: string, deeper: string[] = []) {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CONNECT'],
    resources: [`${resource}/${subresource}`],
  }
  const validations = [{ expression: 'false', message: 'none', messageExpression: expression }]
  const server = await policyServer('validating', {
    policies: { p: { matchConstraints: { ...CONFIG_MAPS, resourceRules: [rule] }, validations } },
  })
  const request = server.request(`/${query}`)
  const entry = builtInServed(server.env).resources.find('', 'v1', resource)!
  const scope = resourceScope(request, entry, { name: 'a', subresource, namespace: entry.namespaced ? 'blue' : '' })
  const error: unknown = await admitConnect(scope, deeper).catch((thrown: unknown) => thrown)
  return error instanceof Error ? error.message.replace(/^.*denied request: /, '') : undefined
}

test.each<[string, string, string, string, string, string[]?]>([
  [
    'pods',
    'exec',
    '?command=a&command=b&stdin=true&tty=0',
    "object.command.join('+') + string(object.stdin) + string(has(object.tty))",
    'a+btruefalse',
  ],
  ['pods', 'exec', '', 'string(object.command == null) + object.kind + object.apiVersion', 'truePodExecOptionsv1'],
  [
    'pods',
    'attach',
    '?container=c',
    'object.kind + string(object.container) + request.kind.kind',
    'PodAttachOptionscPodAttachOptions',
  ],
  [
    'pods',
    'portforward',
    '?ports=80&ports=443',
    'object.kind + string(object.ports[1] + 1)',
    'PodPortForwardOptions444',
  ],
  ['pods', 'portforward', '?ports=80,443&ports=8', 'string(object.ports == [80, 443, 8])', 'true'],
  ['pods', 'exec', '?tty=FALSE&stdin=no', 'string(has(object.tty)) + string(object.stdin)', 'falsetrue'],
  ['services', 'proxy', '', 'object.kind + string(object.path)', 'ServiceProxyOptions/b/c', ['b', 'c']],
  [
    'nodes',
    'proxy',
    '',
    'object.kind + string(has(object.path)) + string(namespaceObject == null)',
    'NodeProxyOptionsfalsetrue',
  ],
  [
    'pods',
    'exec',
    '',
    'request.operation + request.subResource + request.name + string(request.options == null) + string(oldObject == null)',
    'CONNECTexecatruetrue',
  ],
])('%s/%s%s: %s', async (resource, subresource, query, expression, text, deeper) => {
  expect(await said(resource, subresource, query, expression, deeper)).toBe(text)
})

test('a CONNECT that no policy matches is allowed', async () => {
  const server = await policyServer('validating', {})
  const entry = builtInServed(server.env).resources.find('', 'v1', 'pods')!
  const scope = resourceScope(server.request('/'), entry, { name: 'a', subresource: 'exec', namespace: 'blue' })
  expect((await admitConnect(scope, [])).scope).toBe(scope)
})

test('a CONNECT cannot be tried: it would run', async () => {
  const server = await policyServer('validating', {})
  const entry = builtInServed(server.env).resources.find('', 'v1', 'pods')!
  const request = server.request('/?command=a&dryRun=All')
  const scope = resourceScope(request, entry, { name: 'a', subresource: 'exec', namespace: 'blue' })
  await expect(admitConnect(scope, [])).rejects.toMatchObject({ code: 400, message: 'dryRun is not supported' })
})

describe('what mutating admission makes of a CONNECT is what runs', () => {
  const replaced = (field: string, value: string): string =>
    `[JSONPatch{op: "replace", path: "/${field}", value: ${value}}]`
  test.each<[string, string, string, string[], string, Record<string, string[]>, string]>([
    [
      'pods',
      'exec',
      '?command=rm&command=-rf&container=c&stdin=true&tty=false',
      [],
      replaced('command', '["safe"]'),
      { command: ['safe'], container: ['c'], stdin: ['true'], tty: [] },
      '',
    ],
    ['pods', 'attach', '?stdin=true', [], replaced('stdin', 'false'), { stdin: [] }, ''],
    ['pods', 'portforward', '?ports=80', [], replaced('ports', '[443, 8443]'), { ports: ['443', '8443'] }, ''],
    ['services', 'proxy', '', ['a'], replaced('path', '"/b/c"'), {}, '/b/c'],
    ['services', 'proxy', '', ['a'], replaced('path', '".example.com/b"'), {}, '/.example.com/b'],
    ['nodes', 'proxy', '', ['a'], '[JSONPatch{op: "remove", path: "/path"}]', {}, ''],
    ['pods', 'exec', '?command=a', [], replaced('command', '["a"]'), { command: ['a'] }, ''],
  ])('%s/%s%s %j', async (resource, subresource, query, deeper, expression, expected, path) => {
    const resources = [`${resource}/${subresource}`]
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources }]
    const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }]
    const server = await policyServer('mutating', {
      policies: { p: { matchConstraints: { ...CONFIG_MAPS, resourceRules }, mutations } },
    })
    const entry = builtInServed(server.env).resources.find('', 'v1', resource)!
    const place = { name: 'a', subresource, namespace: entry.namespaced ? 'blue' : '' }
    const admitted = await admitConnect(resourceScope(server.request(`/${query}`), entry, place), deeper)
    const got = Object.keys(expected).map((name) => [name, admitted.scope.request.query.getAll(name)])
    expect(Object.fromEntries(got)).toEqual(expected)
    expect(admitted.path).toBe(path)
  })
})

test.each([
  ['', ''],
  ['/', '/'],
  ['/a/', '/a/'],
  ['/a//b', '/a//b'],
  ['//a', '/a'],
  ['?path=/b', ''],
  ['/a?path=/b', '/a'],
])('policies see the path that a proxy passes on: %j is %j', async (sent, path) => {
  const server = await policyServer('validating', {})
  const entry = builtInServed(server.env).resources.find('', 'v1', 'pods')!
  const request = server.request(`/api/v1/namespaces/blue/pods/a/proxy${sent}`)
  const scope = resourceScope(request, entry, { name: 'a', subresource: 'proxy', namespace: 'blue' })
  expect((await admitConnect(scope, request.info.deeper)).path).toBe(path)
  const seen = JSON.stringify(path)
  const expression = path === '' ? 'has(object.path)' : `!has(object.path) || object.path != ${seen}`
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/proxy'] }
  const validations = [{ expression }]
  const strict = await policyServer('validating', {
    policies: { p: { matchConstraints: { ...CONFIG_MAPS, resourceRules: [rule] }, validations } },
  })
  const asked = strict.request(`/api/v1/namespaces/blue/pods/a/proxy${sent}`)
  const again = resourceScope(asked, entry, { name: 'a', subresource: 'proxy', namespace: 'blue' })
  await expect(admitConnect(again, asked.info.deeper)).rejects.toMatchObject({ code: 422 })
})

test.each([
  ['x', 'invalid syntax'],
  ['', 'invalid syntax'],
  ['-1', 'invalid syntax'],
  ['0x51', 'invalid syntax'],
  ['80.0', 'invalid syntax'],
  ['65536', 'value out of range'],
])('a port %j that the node would read in another way is refused', async (port, why) => {
  for (const query of [`?ports=${port}`, `?ports=80,${port}`, `?ports=80&ports=${port}`])
    expect(await said('pods', 'portforward', query, '"admitted"')).toBe(
      `cannot convert to []int32: strconv.ParseUint: parsing "${port}": ${why}`,
    )
})
