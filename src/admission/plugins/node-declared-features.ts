/**
 * NodeDeclaredFeatureValidator (KEP-5328): refuses an update of a pod that needs a feature which its node does not
 * declare.
 */
import type { Container, Pod } from '../../api/core/v1.ts'
import type { Json } from '../../api/object.ts'
import { valuesEqual } from '../../json/value-order.ts'
import { goQuote } from '../../go/quote.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'
import { isChangedOnNode, nodeOf } from './pod-resize.ts'

type Needs = (now: Pod, old: Pod) => boolean

// parts of API objects are JSON
const differs = (a: unknown, b: unknown): boolean => !valuesEqual((a ?? null) as Json, (b ?? null) as Json)

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'

/** By the feature's name: whether an update needs the feature. Other declared features matter only for scheduling. */
const features: Readonly<Record<string, Needs>> = {
  InPlacePodLevelResourcesVerticalScaling: (now, old) => differs(now.spec?.resources, old.spec?.resources),
  InPlacePodVerticalScalingInitContainers: (now, old) =>
    (old.spec?.initContainers ?? []).some(
      (container, index) =>
        !isSidecar(container) && differs(container.resources ?? {}, now.spec?.initContainers?.[index]?.resources ?? {}),
    ),
}

export const nodeDeclaredFeatureValidator: AdmissionPlugin = {
  name: 'NodeDeclaredFeatureValidator',
  handles: (attributes) =>
    attributes.operation === 'UPDATE' && isOfPods(attributes, 'resize') && isChangedOnNode(attributes),
  async validate(attributes) {
    if (!builtInServed(attributes.request.env).gates.enabled('NodeDeclaredFeatures')) return
    const needed = featuresNeeded(attributes)
    if (needed.length === 0) return
    const pod = podOf(attributes)
    const node = await nodeOf(attributes, pod)
    const declared = new Set(node.status?.declaredFeatures)
    const missing = needed.filter((name) => !declared.has(name))
    if (missing.length > 0)
      throw admissionForbidden(
        attributes,
        `pod update requires features ${missing.join(', ')} which are not available on node ${goQuote(node.metadata?.name ?? '')}`,
      )
  },
}

function featuresNeeded(attributes: Attributes): string[] {
  const [now, old] = [podOf(attributes), attributes.oldObject as unknown as Pod]
  return Object.entries(features).flatMap(([name, isNeeded]) => (isNeeded(now, old) ? [name] : []))
}
