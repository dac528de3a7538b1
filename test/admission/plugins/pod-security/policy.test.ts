import { describe, expect, test } from 'vitest'
import { messageOf } from '../../../../src/api/field.ts'
import { PREFIX, policyOf, standardText } from '../../../../src/admission/plugins/pod-security/policy.ts'

const read = (labels: Record<string, string>) => {
  const { policy, errors } = policyOf(
    Object.fromEntries(Object.entries(labels).map(([name, text]) => [PREFIX + name, text])),
  )
  const [enforce, audit, warn] = [policy.enforce, policy.audit, policy.warn].map(standardText)
  return { said: `${enforce} ${audit} ${warn}`, errors: errors.length === 0 ? '' : messageOf(errors) }
}

const NONE = 'privileged:latest'
const LEVELS = 'must be one of privileged, baseline, restricted'
const VERSIONS = 'must be "latest" or "v1.x"'
const wrong = (label: string, value: string, rule: string) =>
  `metadata.labels[${PREFIX}${label}]: Invalid value: "${value}": ${rule}`

describe('labels of a namespace: enforce, audit, warn', () => {
  test.each<[Record<string, string>, string, string?]>([
    [{}, `${NONE} ${NONE} ${NONE}`],
    [{ audit: 'restricted' }, `${NONE} restricted:latest ${NONE}`],
    [{ enforce: 'baseline' }, `baseline:latest ${NONE} baseline:latest`],
    [{ enforce: 'baseline', 'enforce-version': 'v1.30' }, `baseline:v1.30 ${NONE} baseline:v1.30`],
    [
      { enforce: 'baseline', 'enforce-version': 'v1.30', 'warn-version': 'v1.20' },
      `baseline:v1.30 ${NONE} baseline:v1.20`,
    ],
    [{ enforce: 'restricted', warn: 'baseline' }, `restricted:latest ${NONE} baseline:latest`],
    [{ enforce: 'privileged', warn: 'baseline' }, `${NONE} ${NONE} baseline:latest`],
    [{ enforce: 'Baseline' }, `restricted:latest ${NONE} ${NONE}`, wrong('enforce', 'Baseline', LEVELS)],
    [
      { audit: 'x', warn: 'y' },
      `${NONE} ${NONE} ${NONE}`,
      `[${wrong('audit', 'x', LEVELS)}, ${wrong('warn', 'y', LEVELS)}]`,
    ],
    [
      { enforce: 'baseline', 'enforce-version': 'v1.01' },
      `baseline:latest ${NONE} baseline:latest`,
      wrong('enforce-version', 'v1.01', VERSIONS),
    ],
    [{ 'audit-version': '1.2' }, `${NONE} ${NONE} ${NONE}`, wrong('audit-version', '1.2', VERSIONS)],
  ])('%j', (labels, said, errors = '') => {
    expect(read(labels)).toEqual({ said, errors })
  })
})
