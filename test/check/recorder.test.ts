import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
// the recorder is JavaScript, like the runner
const { Recorder } = await import(join(import.meta.dirname, '../conformance/recorder.mjs'))

const SCENARIOS = '// a remark\n{"id": "one",  "expect": [{"status":200}]}\n{"id":"two","expect":[{"status":201}]}\n'
const KIND =
  '{"kind":"Pod","bases":{"small":{}},"expect":{"small":{"status":201}}}\n{"id":"one","expect":{"status":422}}'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-recorder-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function recording(text: string): { file: string; read: () => string } {
  const file = join(directory, 'area.jsonl.gz')
  writeFileSync(file, gzipSync(text))
  return { file, read: () => gunzipSync(readFileSync(file)).toString() }
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const twice = (answer: unknown) => [answer, answer]

test('an answer that came twice takes the place of the recorded one, and nothing else changes', () => {
  const { file, read } = recording(SCENARIOS)
  const recorder = new Recorder()
  recorder.take(file, 'two', twice([{ status: 409 }]), isSame)
  expect(recorder.write()).toBe(1)
  expect(read()).toBe(SCENARIOS.replace('201', '409'))
})

test('answers to bases and to mutations of a kind', () => {
  const { file, read } = recording(KIND)
  const recorder = new Recorder()
  recorder.take(file, 'base/small', twice({ status: 400 }), isSame)
  recorder.take(file, 'one', twice({ status: 403 }), isSame)
  expect(recorder.write()).toBe(2)
  expect(read()).toBe(KIND.replace('201', '400').replace('422', '403'))
})

test('an answer that was another one each time is named and not recorded', () => {
  const { file, read } = recording(SCENARIOS)
  const recorder = new Recorder()
  recorder.take(file, 'one', [[{ status: 500 }], [{ status: 503 }]], isSame)
  expect([recorder.write(), recorder.unsteady]).toEqual([0, ['one']])
  expect(read()).toBe(SCENARIOS)
})
