import { expect, test } from 'vitest'
import { negotiateOutput } from '../../../src/codec/negotiation/negotiate.ts'
import { listShape, respondObject } from '../../../src/codec/respond.ts'
import { decoratedLines, decoratedText } from '../../../src/codec/encode/decorate.ts'
import { services } from '../../../src/registry/core/services/services.ts'
import type { Strategy } from '../../../src/registry/strategy.ts'
import { fakeRequest, fakeScope } from '../fake-scope.ts'
import { builtInForms } from '../../../src/codec/built-in-forms.ts'

const scopeOf = (accept?: string) =>
  fakeScope('v1/services', fakeRequest('GET /api/v1/services', accept === undefined ? {} : { Accept: accept }), {
    // the strategy that the registry uses
    strategy: services as Strategy,
  })

const service = (type: string, name = 'a'): string =>
  `{"kind":"Service","apiVersion":"v1","metadata":{"name":"${name}","resourceVersion":"7"},` +
  `"spec":{"type":"${type}","internalTrafficPolicy":"Local"},"status":{"loadBalancer":{}}}`
const hidden = service('ExternalName').replace(',"internalTrafficPolicy":"Local"', '')

test.each([
  ['of another type as it is stored', service('ClusterIP'), service('ClusterIP')],
  ['of type ExternalName without the policy', service('ExternalName'), hidden],
  ['of type ExternalName that has none', hidden, hidden],
  [
    'of another type that is called so',
    service('ClusterIP').replace('"7"}', '"7","labels":{"type":"ExternalName"}}'),
    service('ClusterIP').replace('"7"}', '"7","labels":{"type":"ExternalName"}}'),
  ],
])('a Service %s', (_, stored, shown) => {
  expect(decoratedText(scopeOf().resource, stored)).toBe(shown)
})

test('a decorated object is answered as text and as object', async () => {
  const scope = scopeOf()
  const output = negotiateOutput(scope.request, { kind: 'object', forms: builtInForms })
  const stored = { revision: 7, text: service('ExternalName') }
  expect(await (await respondObject(scope, output, 200, stored)).json()).toEqual(JSON.parse(hidden))
  const object = JSON.parse(stored.text)
  expect(await (await respondObject(scope, output, 200, object)).json()).toEqual(JSON.parse(hidden))
  expect(object.spec.internalTrafficPolicy).toBe('Local')
})

test('lists are read line by line', async () => {
  const scope = scopeOf()
  expect(listShape(scope.resource, negotiateOutput(scope.request, { kind: 'list', forms: builtInForms }))).toEqual({
    as: 'lines',
  })
  const texts = [service('ClusterIP'), service('ExternalName'), service('NodePort')]
  const stored = new Response(texts.map((text) => `${text}\n`).join('')).body!
  const shown = await new Response(decoratedLines(scope.resource, stored)).text()
  expect(shown.split('\n')).toEqual([texts[0], hidden, texts[2], ''])
})
