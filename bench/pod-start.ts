/**
 * How long a pod takes from its creation to Running, and to the moment its container's program runs, on a node of this host. Arguments: how many pods.
 */
