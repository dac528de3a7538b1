// A ControlPlane with kubectl: the definition of the docs, their example, and refused specs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'off')

const docs = join(import.meta.dirname, '../../docs')
const documented = /```yaml\n(apiVersion: kedge\.dev[^]*?)```/.exec(
  readFileSync(join(docs, 'workloads.md'), 'utf8'),
)![1]!

test('a ControlPlane switches controllers on and off while the server runs', async () => {
  await kubectl.run('create deployment web --image=nginx')
  await kubectl.runArgs(['apply', '-f', join(docs, 'controlplanes.yaml')])
  // kubectl ends at once where the definition has no conditions yet, as on kube-apiserver
  await eventually(() => kubectl.run('wait --for=condition=Established crd/controlplanes.kedge.dev --timeout=60s'))
  await eventually(() => kubectl.run('apply -f -', documented))
  await kubectl.run('wait --for=condition=Available deployment/web --timeout=180s')
  expect(await kubectl.run('get controlplanes --no-headers')).toMatch(/^root +simulated +\*,-cronjob-controller +3\s*$/)
  expect(await kubectl.run('get nodes -o name')).toBe('node/node-1\nnode/node-2\nnode/node-3\n')
  const badly = kubectl.run(`patch controlplane root --type=merge -p {"spec":{"controllers":"red"}}`)
  await expect(badly).rejects.toThrow('spec.controllers: Invalid value: "red": "red" is not in the list')
  await kubectl.run('delete controlplane root')
  await kubectl.run('scale deployment web --replicas=2')
  // A server without controllers serves no metrics of pods.
  await eventually(() => expect(kubectl.run('top nodes')).rejects.toThrow('Metrics API not available'))
  expect(await kubectl.run('get deployment web -o jsonpath={.status.replicas}')).toBe('1')
})
