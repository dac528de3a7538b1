import { ends, neverReady, pod, podTemplate, replicaSet, replicationController } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import type { Action, Manifest, Scenario } from '../scenario.ts'

/** Of pods that are otherwise alike it goes first. */
const cheap: PodOptions = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-10' } }

type Make = (name: string, spec?: Record<string, unknown>, template?: PodOptions) => Manifest

function scenariosOf(kind: string, resource: string, made: Make): Scenario[] {
  const WEB = `${resource}/web`
  const make = (spec: Record<string, unknown> = {}, template: PodOptions = {}): Action => ({
    create: [made('web', spec, template)],
  })
  const patch = (spec: unknown): Action => ({ patch: WEB, with: { spec } })
  return [
    {
      name: `${kind}: grows and shrinks`,
      steps: [make({ replicas: 2 }), patch({ replicas: 5 }), patch({ replicas: 1 }), patch({ replicas: 0 })],
    },
    { name: `${kind}: is never ready`, steps: [make({ replicas: 2 }, neverReady)] },
    { name: `${kind}: is available late`, quietSeconds: 7, steps: [make({ replicas: 2, minReadySeconds: 3 })] },
    { name: `${kind}: replaces what ended`, steps: [make({ replicas: 2 }), { delete: 'v1/pods/*' }] },
    {
      name: `${kind}: lets go and adopts`,
      steps: [
        make({ replicas: 2 }),
        { patch: 'v1/pods/*', with: { metadata: { labels: { app: 'other' } } } },
        { patch: 'v1/pods/*?app=other', with: { metadata: { labels: { app: 'web' } } } },
      ],
    },
    {
      name: `${kind}: adopts pods that were there`,
      steps: [
        { create: [pod('a', { labels: { app: 'web' } }), pod('b', { labels: { app: 'web' } })] },
        make({ replicas: 3 }),
      ],
    },
    {
      name: `${kind}: adopts more pods than it wants`,
      steps: [
        { create: [pod('a', { labels: { app: 'web' }, ...cheap }), pod('b', { labels: { app: 'web' } })] },
        make({ replicas: 1 }),
        patch({ replicas: 0 }),
      ],
    },
    {
      name: `${kind}: does not adopt what is owned`,
      steps: [
        {
          create: [made('other', { replicas: 1, ...selecting(kind, 'web') })],
        },
        make({ replicas: 1 }),
      ],
    },
    {
      name: `${kind}: takes back what was let go`,
      steps: [make({ replicas: 2 }), { patch: 'v1/pods/*', with: { metadata: { ownerReferences: null } } }],
    },
    { name: `${kind}: leaves orphans`, steps: [make({ replicas: 2 }), { delete: WEB, propagation: 'Orphan' }] },
    {
      name: `${kind}: is deleted in the foreground`,
      steps: [make({ replicas: 2 }), { delete: WEB, propagation: 'Foreground' }],
    },
    {
      name: `${kind}: changes its template`,
      steps: [
        make({ replicas: 2 }),
        patch({ template: { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } } }),
        { delete: 'v1/pods/*' },
      ],
    },
    {
      name: `${kind}: is kept small by a quota`,
      steps: [
        {
          create: [
            { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard: { pods: '1' } } },
          ],
        },
        make({ replicas: 3 }),
      ],
    },
    {
      name: `${kind}: shrinks by the cost of pods`,
      steps: [
        make({ replicas: 3 }),
        {
          patch: 'v1/pods/*',
          with: { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-10', marked: 'yes' } } },
        },
        patch({ replicas: 2 }),
      ],
    },
    {
      name: `${kind}: has pods that cannot start`,
      steps: [make({ replicas: 2 }, { annotations: { 'kedge.dev/image-pull': 'fail' } })],
    },
    {
      name: `${kind}: has containers that fail once`,
      quietSeconds: 3,
      steps: [make({ replicas: 1 }, ends(1, { 'kedge.dev/duration': '100000' }))],
    },
  ]
}

const selecting = (kind: string, app: string) => ({
  selector: kind === 'ReplicaSet' ? { matchLabels: { app } } : { app },
  template: podTemplate(app),
})

export const replicaSets: readonly Scenario[] = [
  ...scenariosOf('ReplicaSet', 'apps/v1/replicasets', replicaSet),
  ...scenariosOf('ReplicationController', 'v1/replicationcontrollers', replicationController),
]
