/**
 * The operator with the settings of the environment, as its process runs it. `setpoint plan` loads this file,
 * and needs the same environment to plan the same.
 */
import { etcdOperator } from "./etcd-operator.ts";
import { httpGateway } from "./gateway/http-gateway.ts";
import { plansOf } from "./kind/etcd-plans.ts";
import { pinnedImages } from "./kind/related-images.ts";

/**
 * Repositories of images that EtcdClusters may name, separated by commas; the first replaces one that is
 * refused later.
 */
const listed = process.env["ETCD_IMAGE_REPOSITORIES"] ?? "";
const repositories = listed.split(",").map((each) => each.trim());
const accepts = {
  pinnedImages: pinnedImages(process.env),
  plans: plansOf(process.env),
  ...(listed === "" ? {} : { imageRepositories: repositories }),
};

export default etcdOperator(httpGateway(), accepts, process.env["SETPOINT_OPERATOR_IMAGE"] ?? "");
