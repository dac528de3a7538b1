import { managerOfUserAgent } from '../../patch/managed-fields.ts'
import type { ApiRequest } from '../../request/context.ts'
import type { WriteOptions } from '../../request/options.ts'

/** Without a fieldManager parameter the manager's name comes from the User-Agent. */
export const withManager = <Options extends WriteOptions>({ headers }: ApiRequest, options: Options): Options =>
  options.fieldManager === ''
    ? { ...options, fieldManager: managerOfUserAgent(headers.get('User-Agent') ?? 'unknown') }
    : options
