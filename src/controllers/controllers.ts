import type { Controller } from './controller.ts'
import { namespaceController } from './namespace.ts'
import { rootCaPublisher } from './root-ca-publisher.ts'
import { serviceAccountController } from './service-account.ts'

/** By the name that outbox messages give (see outbox.ts). */
export const controllers: Readonly<Record<string, Controller>> = {
  namespace: namespaceController,
  'service-account': serviceAccountController,
  'root-ca-publisher': rootCaPublisher,
}
