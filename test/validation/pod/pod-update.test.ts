import { expect, test } from 'vitest'
import type { Pod, PodSpec } from '../../../src/api/core/v1.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import { decodeObject } from '../../../src/codec/decode/decode.ts'
import { parseFeatureGates } from '../../../src/api/feature-gates.ts'
import { typeOfKind } from '../../../src/schema/built-in.ts'
import { validatePodUpdate } from '../../../src/validation/pod/pod-update.ts'
import { podRules } from '../../../src/validation/pod/rules.ts'

const gates = parseFeatureGates(undefined)
const rules = podRules((gate) => gates.enabled(gate), true)
const container = { name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', resources: {} }
const spec: PodSpec = {
  containers: [{ ...container, command: ['a'] }],
  hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  terminationGracePeriodSeconds: 30,
}

/** As a request sends it. */
const podOf = (spec: PodSpec): Pod =>
  decodeObject(typeOfKind({ group: '', version: 'v1', kind: 'Pod' })!, {
    metadata: { name: 'p', namespace: 'n' },
    spec: structuredClone(spec) as object as JsonObject,
  }).object as unknown as Pod

/** The added lines of the diff in the refusal. */
function added(change: PodSpec): string[] {
  const [refusal] = validatePodUpdate(podOf({ ...spec, ...change }), podOf(spec), rules)
  return refusal!.message.split('\n').flatMap((line) => (line.startsWith('+') ? [line.slice(1).trim()] : []))
}

test.each<[PodSpec, string[]]>([
  [{ hostAliases: [] }, ['"HostAliases": [],']],
  [{ hostAliases: undefined as never }, ['"HostAliases": null,']],
  [{ containers: [{ ...container, command: [] }] }, ['"Command": [],']],
  [
    { hostname: 'x', containers: [{ ...container, command: ['<&>'] }] },
    ['"\\u003c\\u0026\\u003e"', '"Hostname": "x",'],
  ],
])('the diff of a refused change to %j has what the client sent', (change, lines) => {
  expect(added(change)).toEqual(lines)
})
