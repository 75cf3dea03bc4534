// SPDX-License-Identifier: MIT OR Apache-2.0
// A generic client, as grpcurl is one: all that it knows of the service it asks by server reflection.
//   node reflect.mjs MODULES ADDRESS
// Prints one line of JSON, then one for each state of health until the stream ends.
import { createRequire } from 'node:module';

const [modules, address] = process.argv.slice(2);
const require = createRequire(modules + '/package.json');
const grpc = require('@grpc/grpc-js');
const { GrpcReflection } = require('grpc-js-reflection-client');
const plain = () => grpc.credentials.createInsecure();

try {
	const reflection = new GrpcReflection(address, plain());
	const services = await reflection.listServices();
	const packages = {};
	const methods = {};
	for (const name of services) {
		methods[name] = (await reflection.listMethods(name)).map((m) => m.name);
		packages[name] = (await reflection.getDescriptorBySymbol(name))
			.getPackageObject({ longs: String, enums: String, defaults: true });
	}
	const unknown = await reflection.getDescriptorBySymbol('cuzk.v1.Nothing').then(() => 'found', () => 'not found');
	const engine = new packages['cuzk.v1.ProvingEngine'].cuzk.v1.ProvingEngine(address, plain());
	const health = new packages['grpc.health.v1.Health'].grpc.health.v1.Health(address, plain());
	const call = (client, method, request) => new Promise((resolve, reject) =>
		client[method](request, { deadline: Date.now() + 20000 }, (err, reply) => err ? reject(err) : resolve(reply)));
	const status = await call(engine, 'GetStatus', {});
	const check = await call(health, 'Check', { service: 'cuzk.v1.ProvingEngine' });
	const other = await call(health, 'Check', { service: 'other' }).catch((err) => err.code);
	console.log(JSON.stringify({ services, methods, unknown, instance: status.gpus[0].name, check: check.status, other }));
	const strange = health.Watch({ service: 'other' });
	strange.on('data', (m) => console.log('other ' + m.status));
	strange.on('error', () => {});
	const watch = health.Watch({ service: '' });
	watch.on('data', (m) => console.log(m.status));
	watch.on('error', (err) => { console.log('end ' + err.code); process.exit(0); });
	watch.on('end', () => { console.log('end'); process.exit(0); });
} catch (err) {
	console.error(String(err));
	process.exitCode = 1;
}
