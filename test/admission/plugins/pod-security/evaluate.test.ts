import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import { detailText, reasonText, violationsOf } from '../../../../src/admission/plugins/pod-security/evaluate.ts'
import { parseLevel, parseVersion } from '../../../../src/configuration/pod-security.ts'

interface Row {
  readonly name: string
  readonly pod: Pod
  /** The message of kube-apiserver 1.36 for each standard; '' if the pod meets the standard. */
  readonly violations: Readonly<Record<string, string>>
}

// the fixture is the project's own
const rows = JSON.parse(readFileSync(join(import.meta.dirname, 'standards.json'), 'utf8')) as Row[]

const standardOf = (text: string) => {
  const [level = '', version = ''] = text.split(':')
  return { level: parseLevel(level)!, version: parseVersion(version)! }
}

describe.each(rows)('a pod: $name', ({ pod, violations }) => {
  test.each(Object.entries(violations))('%s: %s', (standard, text) => {
    expect(detailText(violationsOf(standardOf(standard), pod.metadata.annotations, pod.spec))).toBe(text)
  })
})

test('privileged allows all', () => {
  for (const { pod } of rows)
    expect(violationsOf(standardOf('privileged:latest'), pod.metadata.annotations, pod.spec)).toEqual([])
})

test('for many pods only the reasons are listed', () => {
  const spec = { hostNetwork: true, containers: [{ name: 'a', securityContext: { privileged: true } }] }
  expect(reasonText(violationsOf(standardOf('baseline:latest'), {}, spec))).toBe('host namespaces, privileged')
})
