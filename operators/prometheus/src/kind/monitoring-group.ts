/** The group whose kinds this operator serves, as upstream's operator does. */
export const monitoringGroup = "monitoring.coreos.com";
export const categories = ["prometheus-operator"];
