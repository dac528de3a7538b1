import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../api/apps/v1.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import { labelSelectorText } from '../../storage/selectors/label-selector-text.ts'
import { age, containerCells, labelsText, nameOf, printer } from './cells.ts'
import { selectorCell } from './selector-text.ts'

export const deploymentPrinter = printer<Deployment>((object, now) => {
  const { spec = {}, status = {} } = object
  return [
    nameOf(object),
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    status.updatedReplicas ?? 0,
    status.availableReplicas ?? 0,
    age(object, now),
    ...containerCells(spec.template?.spec?.containers),
    labelSelectorText(spec.selector ?? {}),
  ]
})

export const replicaSetPrinter = printer<ReplicaSet>((object, now) => {
  const { spec = {}, status = {} } = object
  return [
    nameOf(object),
    spec.replicas ?? 0,
    status.replicas ?? 0,
    status.readyReplicas ?? 0,
    age(object, now),
    ...containerCells(spec.template?.spec?.containers),
    selectorCell(spec.selector),
  ]
})

export const statefulSetPrinter = printer<StatefulSet>((object, now) => {
  const { spec = {}, status = {} } = object
  return [
    nameOf(object),
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    age(object, now),
    ...containerCells(spec.template?.spec?.containers),
  ]
})

export const daemonSetPrinter = printer<DaemonSet>((object, now) => {
  const { spec = {}, status = {} } = object
  return [
    nameOf(object),
    status.desiredNumberScheduled ?? 0,
    status.currentNumberScheduled ?? 0,
    status.numberReady ?? 0,
    status.updatedNumberScheduled ?? 0,
    status.numberAvailable ?? 0,
    labelsText(spec.template?.spec?.nodeSelector),
    age(object, now),
    ...containerCells(spec.template?.spec?.containers),
    selectorCell(spec.selector),
  ]
})

export const controllerRevisionPrinter = printer<ControllerRevision>(
  (object, now) => [nameOf(object), controllerOf(object), object.revision ?? 0, age(object, now)],
  { exact: true },
)

/** `deployment.apps/name` of the owner that is the controller. */
function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return '<none>'
  const { group = '' } = parseApiVersion(owner.apiVersion ?? '') ?? {}
  const kind = [owner.kind ?? '', group].filter((part) => part !== '').join('.')
  return kind === '' ? (owner.name ?? '') : `${kind.toLowerCase()}/${owner.name ?? ''}`
}
