import { describe, expect, test } from 'vitest'
import type { JsonTree } from '../../src/json/json.ts'
import { decodeMade } from '../../src/admission/made-object.ts'
import type { PatchedType } from '../../src/admission/made-object.ts'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'

const kind = { group: 'example.com', version: 'v1', kind: 'Thing' }
const of: PatchedType = {
  type: customKindType('com.example.v1.Thing', kind, { type: 'object', properties: { spec: { type: 'object' } } }),
  kind,
  isPublished: true,
  requestKind: kind,
  defaulting: { now: new Date(0), enabled: parseFeatureGates(undefined).enabled, ofKind: undefined },
}
const made = (more: Record<string, JsonTree>) =>
  decodeMade({ apiVersion: 'example.com/v1', kind: 'Thing', ...more } as JsonTree, of, 'lenient')

describe('metadata that a policy or a webhook gave to a custom resource', () => {
  test.each<[string, JsonTree, object]>([
    ['labels that are text', { labels: 'x' }, {}],
    ['a label that is a number', { labels: { a: 1 } }, {}],
    ['an annotation that is null', { annotations: { a: null } }, { annotations: { a: '' } }],
    ['a finalizer that is a number', { finalizers: [1] }, {}],
    ['owners that are text', { ownerReferences: 'x' }, {}],
    ['managedFields that are text', { managedFields: 'x' }, {}],
    ['an unknown field', { bogus: 4, labels: { a: 'b' } }, { labels: { a: 'b' } }],
    [
      'an unknown field of an owner',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', more: 1 }] },
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] },
    ],
  ])('%s is left out', (_what, metadata, kept) => {
    expect(made({ metadata: { name: 't', ...(metadata as object) } }).metadata).toEqual({ name: 't', ...kept })
  })

  test('no metadata is empty metadata', () => {
    expect(made({}).metadata).toEqual({})
  })

  test.each<[string, Record<string, JsonTree>, string]>([
    ['text in place of metadata', { metadata: 'x' }, 'system metadata was not initialized'],
    [
      'no kind',
      { kind: '', metadata: {} },
      `Object 'Kind' is missing in '{"apiVersion":"example.com/v1","kind":"","metadata":{}}'`,
    ],
  ])('%s is refused', (_what, document, message) => {
    expect(() => made(document)).toThrow(
      expect.objectContaining({ code: 500, message: `Internal error occurred: ${message}` }) as Error,
    )
  })
})
