/** Requests to the server that an APIService names, as its front proxy. */
import type { APIService } from '../api/apiregistration/v1.ts'
import type { UserInfo } from '../request/user-info.ts'
import { SYSTEM_MASTERS } from '../request/user-info.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import type { ExchangeAnswer, ExchangeCall, Upgraded } from './exchange.ts'
import type { HeaderPairs } from './proxied-headers.ts'
import { userHeaders } from './proxied-headers.ts'
import type { ServicePlace, ServiceReference } from './service-place.ts'
import { placeOfService } from './service-place.ts'
import { exchangeOf } from './way-out.ts'

const HTTPS = 443

/** This server itself, where it asks for documents and whether anybody is there. */
export const AGGREGATOR: UserInfo = {
  name: 'system:kube-aggregator',
  uid: '',
  groups: [SYSTEM_MASTERS],
  extra: {},
}

export const serviceOf = ({ spec }: APIService): ServiceReference => {
  const { name = '', namespace = '', port = HTTPS } = spec?.service ?? {}
  return { name, namespace, port }
}

export const isAvailable = ({ status }: APIService): boolean =>
  (status?.conditions ?? []).some(({ type, status }) => type === 'Available' && status === 'True')

export interface Asked extends Pick<ExchangeCall, 'method' | 'timeoutMs' | 'upgrades'> {
  /** With its query, percent-encoded. */
  readonly target: string
  readonly headers: HeaderPairs
  readonly user: UserInfo
  readonly body?: ReadableStream<Uint8Array> | null
}

/** @throws CallFailed where the Service leads nowhere */
export const placeOfApiService = (
  plane: Pick<ControlPlane, 'env' | 'tenant'>,
  service: APIService,
): Promise<ServicePlace> => placeOfService(plane, serviceOf(service))

/** @throws CallFailed */
export function askApiService(
  plane: Pick<ControlPlane, 'env' | 'tenant' | 'gone' | 'hops'> &
    Partial<Pick<ApiRequest, 'delegate' | 'request' | 'headers'>>,
  { spec = {} }: APIService,
  { base, serverName }: ServicePlace,
  { target, headers, user, body = null, ...call }: Asked,
): Promise<ExchangeAnswer | Upgraded> {
  return exchangeOf(plane, user)(
    {
      ...call,
      url: `${base}${target}`,
      headers: [...headers, ...userHeaders(user)],
      serverName,
      ...(spec.insecureSkipTLSVerify === true ? { isInsecure: true } : { caBundle: bundleOf(spec.caBundle) }),
      credential: 'front-proxy',
    },
    body,
    plane.gone?.(),
  )
}

const bundleOf = (base64 = ''): string | undefined => (base64 === '' ? undefined : atob(base64))
