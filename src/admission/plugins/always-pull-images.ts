/** AlwaysPullImages: each pod must pull its images, which proves with its own credentials that it may use them. */
import type { Pod } from '../../api/core/v1.ts'
import { messageOf, notSupported, path } from '../../api/field.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { plainError } from '../../api/status.ts'
import { visitContainers } from '../../validation/pod/visit-containers.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const ALWAYS = 'Always'

export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  handles: (attributes) =>
    isOfPods(attributes) &&
    (attributes.operation === 'CREATE' || (attributes.operation === 'UPDATE' && hasNewImages(attributes))),
  admit(attributes) {
    const { spec } = podOf(attributes)
    for (const { container } of containersOf(podOf(attributes))) container.imagePullPolicy = ALWAYS
    for (const { image } of spec?.volumes ?? []) if (image !== undefined) image.pullPolicy = ALWAYS
  },
  validate(attributes) {
    const pod = podOf(attributes)
    const wrong = (at: FieldPath, policy = ''): FieldError[] =>
      policy === ALWAYS ? [] : [notSupported(at, policy, [ALWAYS])]
    const errors = [
      ...containersOf(pod).flatMap(({ container, at }) =>
        wrong(at.child('imagePullPolicy'), container.imagePullPolicy),
      ),
      ...(pod.spec?.volumes ?? []).flatMap(({ image }, index) =>
        image === undefined
          ? []
          : wrong(path('spec', 'volumes').index(index).child('image').child('pullPolicy'), image.pullPolicy),
      ),
    ]
    const texts = [...new Set(errors.map((error) => admissionForbidden(attributes, messageOf([error])).message))]
    // kube-apiserver aggregates these errors, and an aggregate has no status code
    if (texts.length > 0) throw plainError(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  },
}

const containersOf = ({ spec = {} }: Pod) => visitContainers(spec, path('spec'))

function hasNewImages({ object, oldObject }: Attributes): boolean {
  const imagesOf = (pod: unknown): string[] =>
    // only pods are written at this path
    containersOf(pod as Pod).map(({ container }) => container.image ?? '')
  const old = new Set(imagesOf(oldObject))
  return imagesOf(object).some((image) => !old.has(image))
}
