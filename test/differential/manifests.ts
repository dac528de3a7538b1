/** Short hands for the objects of the scenarios. */
import type { Action, Manifest } from './scenario.ts'

export interface PodOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** Fields of the first container. */
  readonly container?: Readonly<Record<string, unknown>>
  readonly image?: string
  /** Fields of the pod's spec. */
  readonly spec?: Readonly<Record<string, unknown>>
}

export function podTemplate(app: string, { labels, annotations, container, image = 'nginx', spec }: PodOptions = {}) {
  return {
    metadata: { labels: { app, ...labels }, ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: 'main', image, ...container }], ...spec },
  }
}

export const pod = (name: string, options: PodOptions = {}): Manifest => {
  const { metadata, spec } = podTemplate(name, options)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec }
}

const withTemplate =
  (apiVersion: string, kind: string) =>
  (name: string, spec: Readonly<Record<string, unknown>> = {}, template: PodOptions = {}): Manifest => ({
    apiVersion,
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name, template), ...spec },
  })

export const deployment = withTemplate('apps/v1', 'Deployment')
export const replicaSet = withTemplate('apps/v1', 'ReplicaSet')
export const daemonSet = withTemplate('apps/v1', 'DaemonSet')

export const statefulSet = (name: string, spec: Readonly<Record<string, unknown>> = {}, template: PodOptions = {}) =>
  withTemplate('apps/v1', 'StatefulSet')(name, { serviceName: name, ...spec }, template)

export const replicationController = (
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  template: PodOptions = {},
): Manifest => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: { selector: { app: name }, template: podTemplate(name, template), ...spec },
})

const jobSpec = (spec: Readonly<Record<string, unknown>>, { spec: podSpec, ...template }: PodOptions) => {
  const { metadata, spec: made } = podTemplate('job', {
    ...template,
    image: template.image ?? 'busybox',
    spec: { restartPolicy: 'Never', ...podSpec },
  })
  const { app: _, ...labels } = metadata.labels
  return { template: { metadata: { ...metadata, labels }, spec: made }, ...spec }
}

export const job = (
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  template: PodOptions = {},
): Manifest => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: jobSpec(spec, template) })

export const cronJob = (
  name: string,
  spec: Readonly<Record<string, unknown>>,
  jobFields: Readonly<Record<string, unknown>> = {},
  template: PodOptions = {},
): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name },
  spec: { jobTemplate: { spec: jobSpec(jobFields, template) }, ...spec },
})

export const service = (name: string, spec: Readonly<Record<string, unknown>> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
})

export const budget = (name: string, spec: Readonly<Record<string, unknown>>): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, ...spec },
})

export const claim = (name: string, spec: Readonly<Record<string, unknown>> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})

/** One more node, `node-4`, beside those that all scenarios have: for scenarios that run alone. */
export const extraNode = (labels: Record<string, string> = {}, spec: Record<string, unknown> = {}): Action => ({
  createGlobal: [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'node-4',
        labels: { 'kedge.dev/simulated': 'true', 'kubernetes.io/hostname': 'node-4', ...labels },
      },
      spec: { podCIDR: '10.244.9.0/24', podCIDRs: ['10.244.9.0/24'], ...spec },
    },
  ],
})

/** Annotations by which simulated containers end. */
export const ends = (exitCode: number, more: Readonly<Record<string, string>> = {}): PodOptions => ({
  annotations: { 'kedge.dev/exit-code': String(exitCode), ...more },
})
export const neverReady: PodOptions = { annotations: { 'kedge.dev/ready': 'false' } }
export const readyAfter = (seconds: number): PodOptions => ({
  annotations: { 'kedge.dev/ready-delay': String(seconds) },
})
