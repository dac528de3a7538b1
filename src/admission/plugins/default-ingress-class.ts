import type { Ingress } from '../../api/networking/v1.ts'
import { defaultClass } from './default-class.ts'
import type { AdmissionPlugin } from '../attributes.ts'

const GROUP = 'networking.k8s.io'
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
const ingressClasses = { group: GROUP, resource: 'ingressclasses' }

/** DefaultIngressClass: a new Ingress without a class, in the spec or as an annotation, gets the default class. */
export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' && resource.group === GROUP && resource.resource === 'ingresses' && subresource === '',
  async admit({ object, request }) {
    const ingress = object as Ingress | undefined // only Ingresses are created at this path
    if (ingress === undefined || ingress.spec?.ingressClassName !== undefined) return
    if (ingress.metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return
    const name = await defaultClass(request, ingressClasses, ['ingressclass.kubernetes.io/is-default-class'])
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name }
  },
}
