// Whether a write changes the stored object, by their texts.
import { expect, test } from 'vitest'
import type { Live } from '../../src/codec/stored-object.ts'
import { changesContent, FinalObject, isUnchanged, newValueOf } from '../../src/registry/stored-form.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'

const METADATA = '{"name":"a","resourceVersion":"'
const textOf = (head: string, revision: string, managers: string, content: string): string =>
  `{${head}"metadata":${METADATA}${revision}","managedFields":[${managers}]},${content}}`

const HEAD = '"kind":"ConfigMap","apiVersion":"v1",'
const OLD = '{"time":"2026-01-01T00:00:00Z"}'
const NEW = '{"time":"2026-01-02T00:00:00Z"}'
const CONTENT = '"data":{"a":"1"}'

const stored = (text: string): Live => ({ stored: { revision: 7, text } }) as Live
const live = stored(textOf(HEAD, '7', OLD, CONTENT))

const value = (managers: string, content: string, head = HEAD) => {
  const text = textOf(head, '', managers, content)
  return { text, at: text.indexOf(METADATA) + METADATA.length, uid: '' }
}

test.each<[what: string, written: ReturnType<typeof value>, unchanged: boolean, content: boolean]>([
  ['the same object', value(OLD, CONTENT), true, false],
  ['other times in managedFields', value(NEW, CONTENT), false, false],
  ['another manager', value(`${OLD},${NEW}`, CONTENT), false, false],
  ['a value of the same length', value(NEW, '"data":{"a":"2"}'), false, true],
  ['a longer value', value(OLD, '"data":{"a":"12"}'), false, true],
  ['no content', value(OLD, '"data":{}'), false, true],
  ['another apiVersion, whose text is as long', value(OLD, CONTENT, HEAD.replace('v1', 'v2')), false, false],
])('%s', (_, written, unchanged, content) => {
  expect(isUnchanged(written, live)).toBe(unchanged)
  expect(changesContent(written, live)).toBe(content)
})

test('a revision within the content is not taken for that of the object', () => {
  const written = value(OLD, '"data":{"a":"7"}')
  expect(isUnchanged(written, stored(textOf(HEAD, '7', OLD, '"data":{"a":"7"}')))).toBe(true)
  expect(isUnchanged(written, stored(textOf(HEAD, '8', OLD, '"data":{"a":"7"}')))).toBe(false)
})

test('where metadata does not come first, or the text was not read, nothing is said of the content', () => {
  const elsewhere = { text: `{"data":{},"metadata":{}}`, at: 0, uid: '' }
  expect(changesContent(elsewhere, live)).toBe(false)
  expect(changesContent(value(OLD, '"data":{}'), stored(''))).toBe(false)
})

test('a null that no type of the schema refuses is not stored', () => {
  const open = { 'x-kubernetes-preserve-unknown-fields': true }
  const properties = {
    a: open,
    b: { ...open, nullable: true },
    c: { ...open, type: 'object', properties: { d: open } },
  }
  const kind = { group: 'example.com', version: 'v1', kind: 'Thing' }
  const type = customKindType('Thing', kind, { type: 'object', properties })
  const sent = { a: null, b: null, c: { d: null, e: null } }
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...sent }
  const final = new FinalObject(type, object, {})
  for (const { text, at } of [newValueOf(type, object, {}), final.value()]) {
    const read = JSON.parse(`${text.slice(0, at)}1${text.slice(at)}`) as object
    expect(read).toEqual({ ...object, metadata: { name: 'a', resourceVersion: '1' }, a: undefined, c: { e: null } })
  }
  expect(object.c.d).toBeNull()
})
